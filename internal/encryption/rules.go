package encryption

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/layout/secret"
)

// platformRules are the creation rules of the platform repository: those of the
// specification, then one for each set of clusters that share folders. What one
// cluster applies, no other can decrypt.
func platformRules(spec *v1alpha1.Spec, lay layout.Layout) []rule {
	e := spec.Encryption.Spec
	rules := []rule{}
	for _, r := range e.Rules {
		rules = append(rules, rule{r.PathRegex, r.EncryptedRegex, true, recipients(r.Recipients.Age)})
	}
	if Decryption(spec) == nil {
		return rules
	}
	add := func(pathRegex string, clusters []string) {
		keys := slices.Clone(e.Recipients.Platform.Age)
		for _, c := range clusters {
			keys = append(keys, e.Recipients.Clusters[c].Age...)
		}
		// A rule without keys makes SOPS refuse the file, where a rule further
		// down would encrypt it to others.
		rules = append(rules, rule{pathRegex, e.EncryptedRegex, true, recipients(keys)})
	}
	for _, s := range secret.Places(spec, lay) {
		if s.Secret.File != "" { // it may be named as no other secret is
			add("^"+regexp.QuoteMeta(s.File)+"$", clusterNames(s.Clusters))
		}
	}
	for _, g := range grouped(folders(spec, lay)) {
		add(inFolders(g.folders), g.clusters)
	}
	return rules
}

func clusterNames(clusters []*v1alpha1.Cluster) []string {
	var names []string
	for _, c := range clusters {
		names = append(names, c.Metadata.Name)
	}
	return names
}

// users are the clusters that use a folder, as a set.
type users map[string]bool

// folders are the folders of the platform repository and the clusters whose
// secrets they hold.
func folders(spec *v1alpha1.Spec, lay layout.Layout) map[string]users {
	used := map[string]users{}
	use := func(dir, cluster string) {
		dir = path.Clean(dir)
		if used[dir] == nil {
			used[dir] = users{}
		}
		used[dir][cluster] = true
	}
	shared := map[string]bool{}
	for _, c := range spec.Clusters {
		name := c.Metadata.Name
		use(c.Spec.Path, name)
		use(lay.Bootstrap(c), name)
		use(lay.TenantOverlay(name), name)
		for _, product := range spec.ProductsOn(c) {
			use(lay.Platform(c, product.ProductName(), nil).Dir, name)
		}
		for _, u := range lay.Addons(c, spec.AddonsOn(c)) {
			use(u.Dir, name)
			for _, p := range u.Parts {
				use(p.Dir, name)
			}
			if !within(u.Dir, c.Spec.Path) {
				top, _, _ := strings.Cut(u.Dir, "/")
				shared[top] = true
			}
		}
	}
	for _, s := range secret.Places(spec, lay) {
		for i, place := range s.Places {
			if s.Secret.Scope != v1alpha1.ScopeTenant {
				use(place.Index, s.Clusters[i].Metadata.Name)
			}
		}
	}
	for _, t := range spec.Tenants {
		for _, on := range spec.TenantClusters(t) {
			use(lay.TenantBase(t.Metadata.Name), on.Cluster)
		}
	}
	// What people put beside the generated folders may be anybody's.
	for top := range shared {
		for _, c := range spec.Clusters {
			use(top, c.Metadata.Name)
		}
	}
	return used
}

func within(dir, of string) bool { return dir == of || strings.HasPrefix(dir, of+"/") }

// group is a set of folders that the same clusters use.
type group struct {
	depth    int
	clusters []string
	folders  []string
}

// grouped orders folders for SOPS, which takes the first match: a folder stands
// before the ones that it lies in, and folders with the same users share a rule.
// A folder is dropped where the nearest one around it has the same users.
func grouped(used map[string]users) []group {
	groups := map[string]*group{}
	for dir, clusters := range used {
		if around := enclosing(used, dir); around != nil && maps.Equal(around, clusters) {
			continue
		}
		names := slices.Sorted(maps.Keys(clusters))
		depth := strings.Count(dir, "/")
		key := strings.Join(append(names, strings.Repeat("/", depth)), " ")
		if groups[key] == nil {
			groups[key] = &group{depth: depth, clusters: names}
		}
		groups[key].folders = append(groups[key].folders, dir)
	}
	out := make([]group, 0, len(groups))
	for _, g := range groups {
		slices.Sort(g.folders)
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.depth, a.depth), slices.Compare(a.folders, b.folders))
	})
	return out
}

// enclosing are the users of the nearest folder around one; nil for none.
func enclosing(used map[string]users, dir string) users {
	for {
		i := strings.LastIndexByte(dir, '/')
		if i < 0 {
			return nil
		}
		dir = dir[:i]
		if used[dir] != nil {
			return used[dir]
		}
	}
}
