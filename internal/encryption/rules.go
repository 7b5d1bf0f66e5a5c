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
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// platformRules returns the creation rules of the platform repository: those of the
// specification, then one for each set of clusters that share folders. Only the clusters that
// apply a folder can decrypt its secrets.
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
		// SOPS refuses the file for a rule without keys. Without this rule, a later rule would encrypt the file to other
		// recipients.
		rules = append(rules, rule{pathRegex, e.EncryptedRegex, true, recipients(keys)})
	}
	for _, s := range secret.Places(spec, lay) {
		if s.Secret.File != "" { // its name may differ from those of all other secrets
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

// users is the set of clusters that use a folder.
type users map[string]bool

// folders returns the folders of the platform repository and, for each, the clusters that
// need its secrets.
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
	// Files that people add next to the generated folders may be for any cluster.
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

// grouped orders folders for SOPS, which applies the first match: a folder comes before the folders
// that contain it, and folders with the same users share a rule. A folder is dropped if the nearest
// folder around it has the same users.
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
	sorting.Func(out, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.depth, a.depth), slices.Compare(a.folders, b.folders))
	})
	return out
}

// enclosing returns the users of the nearest folder that contains a folder, nil if no folder does.
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
