package v1alpha1

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// checker checks what one field cannot say of itself: references between
// objects, what they may not share, and bounds that depend on other fields.
type checker struct {
	report  *report
	spec    *Spec
	all     []*object
	objects map[any]*object // by their decoded form
	// incomplete says that some object could not be read, so that a name that
	// is not found may yet exist.
	incomplete bool
	// keyless says that clusters need not have keys.
	keyless bool
	on      map[*Addon]map[string]bool // the clusters of each add-on
	known   known
}

// fail reports an error at a field of an object.
func (c *checker) fail(of any, p *fieldPath, hint, format string, args ...any) {
	o := c.objects[of]
	if o.bad[p.String()] {
		return // the decoder has said what is wrong with it
	}
	c.report.add(o.errorAt(o.node(p), p, hint, fmt.Sprintf(format, args...)))
}

// called names another object in a message, with its place.
func (c *checker) called(of any) string {
	o := c.objects[of]
	name := o.kind + " " + quote(o.name)
	if o.file == "" {
		return name
	}
	return name + " (" + o.place() + ")"
}

// failKey is fail at the key of a mapping's entry rather than at its value.
func (c *checker) failKey(of any, p *fieldPath, hint, format string, args ...any) {
	o := c.objects[of]
	key, _, _ := p.find(o.root)
	c.report.add(o.errorAt(key, p, hint, fmt.Sprintf(format, args...)))
}

// whole says whether objects were decoded without an error. What two objects
// may not share is not judged of one that was misread.
func (c *checker) whole(objects ...any) bool {
	return !slices.ContainsFunc(objects, func(of any) bool { return c.objects[of].broken })
}

// known are the names that selectors may use, sorted.
type known struct {
	clusters, environments []string
	labels                 map[string][]string // the values of each label
}

func knownNames(clusters []*Cluster) known {
	k := known{labels: map[string][]string{}}
	for _, cluster := range clusters {
		k.clusters = append(k.clusters, cluster.Metadata.Name)
		if e := cluster.Spec.Environment; e != "" {
			k.environments = append(k.environments, e)
		}
		for key, value := range cluster.Metadata.Labels {
			k.labels[key] = append(k.labels[key], value)
		}
	}
	slices.Sort(k.clusters)
	slices.Sort(k.environments)
	k.environments = slices.Compact(k.environments)
	for key, values := range k.labels {
		slices.Sort(values)
		k.labels[key] = slices.Compact(values)
	}
	return k
}

// check runs every check. Each adds what it finds to the report.
func (c *checker) check() {
	c.known = knownNames(c.spec.Clusters)
	c.on = make(map[*Addon]map[string]bool, len(c.spec.Addons))
	for _, a := range c.spec.Addons {
		c.on[a] = map[string]bool{}
		for _, cluster := range c.spec.Selected(a.Spec.Clusters) {
			c.on[a][cluster.Metadata.Name] = true
		}
	}
	for _, o := range c.all {
		c.labels(o.decoded, at("metadata", "labels"), o.meta.Labels)
		c.annotations(o.decoded, at("metadata", "annotations"), o.meta.Annotations)
	}
	c.fleet()
	c.clusters()
	c.addons()
	c.places()
	c.order()
	c.resources()
	c.variables()
	c.tenants()
	c.namespaces()
	c.encryption()
	c.k0rdent()
	c.kommander()
}

const qualifiedHint = "write at most 63 letters, digits, -, _ and ., with a letter or digit at both ends, and before them, if wanted, a domain and /, such as example.com/team"

// labels checks keys and values as the API server does.
func (c *checker) labels(of any, p *fieldPath, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if len(validation.IsQualifiedName(key)) > 0 {
			c.failKey(of, p.child(key), qualifiedHint, "%s is not a label's name", quote(key))
		}
		if len(validation.IsValidLabelValue(labels[key])) > 0 {
			c.fail(of, p.child(key), "write at most 63 letters, digits, -, _ and ., with a letter or digit at both ends, such as eu-central-1; or nothing",
				"%s is not a label's value", quote(labels[key]))
		}
	}
}

func (c *checker) annotations(of any, p *fieldPath, annotations map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if len(validation.IsQualifiedName(strings.ToLower(key))) > 0 {
			c.failKey(of, p.child(key), qualifiedHint, "%s is not an annotation's name", quote(key))
		}
	}
}

// exactVersion is a Flux version that names one release.
var exactVersion = regexp.MustCompile(`^v?[0-9]+\.[0-9]+\.[0-9]+$`)

func (c *checker) fleet() {
	f := c.spec.Fleet
	if f == nil {
		if !c.incomplete {
			c.lacks(KindFleet, "add one, here or in another file: apiVersion: "+APIVersion+", kind: Fleet, metadata: {name: fleet}, spec: {repository: {url: …}}; fleetwright init writes one")
		}
		return
	}
	c.url(f, at("spec", "repository", "url"), f.Spec.Repository.URL)
	c.branch(f, at("spec", "repository", "branch"), f.Spec.Repository.Branch)
	flux := f.Spec.Flux
	if flux.Install == InstallBootstrap && !exactVersion.MatchString(flux.Version) && c.whole(f) {
		c.fail(f, at("spec", "flux", "version"), "write an exact version such as "+defaultBootstrapVersion+"; a range needs install: operator",
			"spec.flux.version is %s, which install: bootstrap cannot pin", quote(flux.Version))
	}
	needed := []string{"source-controller", "kustomize-controller"}
	if slices.ContainsFunc(c.spec.Addons, func(a *Addon) bool { return a.Spec.Chart != nil }) {
		needed = append(needed, "helm-controller")
	}
	for _, name := range needed {
		if c.whole(f) && !slices.Contains(flux.Components, name) {
			c.fail(f, at("spec", "flux", "components"), "add "+name, "spec.flux.components lacks %s, which the generated objects need", name)
		}
	}
	if f.Spec.Layout == LayoutApps && len(c.spec.Clusters) > 1 {
		c.fail(f, at("spec", "layout"), "write layout: fleet, which holds several clusters", "layout apps has exactly one cluster, the specification has %d", len(c.spec.Clusters))
	}
}

// lacks reports that a specification has no object of a kind, at its first object.
func (c *checker) lacks(kind, hint string) {
	first := c.all[0]
	c.report.add(first.errorAt(first.root, nil, hint, "the specification has no "+kind))
}

// clusterHint says how a cluster is added.
func clusterHint(name string) string {
	return "add an object, here or in another file: apiVersion: " + APIVersion + ", kind: Cluster, metadata: {name: " + shorten(name) + "}"
}

func (c *checker) clusters() {
	if len(c.spec.Clusters) == 0 && !c.incomplete && c.spec.K0rdent == nil && c.spec.Kommander == nil { // which name theirs
		c.lacks(KindCluster, clusterHint("staging"))
	}
	for _, cluster := range c.spec.Clusters {
		if c.spec.Fleet != nil && c.spec.Fleet.Spec.Layout == LayoutFleet && cluster.Metadata.Name == "base" {
			c.fail(cluster, at("metadata", "name"), "choose another name", "a cluster cannot be named %q: tenants/base holds what all clusters share", "base")
		}
		for _, name := range slices.Sorted(maps.Keys(cluster.Spec.Variables)) {
			if !variableName.MatchString(name) {
				c.failKey(cluster, at("spec", "variables", name), variableHint(name), "%s is not a variable's name", quote(name))
			}
		}
		c.clusterPath(cluster)
	}
	if c.spec.Fleet == nil || c.spec.Fleet.Spec.Layout == LayoutFleet {
		c.clusterFolders()
	}
}

// clusterFolders checks that no cluster's folder is inside of another's. In the
// order of their paths, a folder comes right before those inside of it.
func (c *checker) clusterFolders() {
	sorted := slices.SortedStableFunc(slices.Values(c.spec.Clusters), func(a, b *Cluster) int {
		return slices.Compare(strings.Split(a.Spec.Path, "/"), strings.Split(b.Spec.Path, "/"))
	})
	var outer *Cluster
	for _, cluster := range sorted {
		if outer == nil || !nested(cluster.Spec.Path, outer.Spec.Path) {
			outer = cluster
			continue
		}
		if c.whole(cluster, outer) {
			c.fail(cluster, at("spec", "path"), "give each cluster a folder of its own",
				"path %s of the cluster overlaps %s of %s", quote(cluster.Spec.Path), quote(outer.Spec.Path), c.called(outer))
		}
	}
}

// variableHint says how the name of a variable is written.
func variableHint(name string) string {
	if meant := asVariable(name); len(name) <= maxShown && variableName.MatchString(meant) {
		return "write " + meant
	}
	return "use letters, digits and _, and no digit first"
}

// variableName is the pattern that kustomize-controller puts on variables.
var variableName = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// ownFolders are folders of the platform repository that hold other things than
// a cluster's own files.
var ownFolders = []string{"fleet", "infrastructure", "tenants", "kubernetes/apps", "kubernetes/k0rdent", "k0rdent", "bootstrap", ".fleetwright"}

func (c *checker) clusterPath(cluster *Cluster) {
	p := cluster.Spec.Path
	if problem := pathProblem(p); problem != "" {
		c.fail(cluster, at("spec", "path"), "write a path from the repository's root, such as clusters/"+cluster.Metadata.Name, "path %s %s", quote(p), problem)
		return
	}
	if p == "." {
		c.fail(cluster, at("spec", "path"), "write a path such as clusters/"+cluster.Metadata.Name, "path %s is the whole repository", quote(p))
		return
	}
	folders := ownFolders
	if c.spec.Kommander != nil {
		folders = slices.Concat(folders, kommanderFolders)
	}
	for _, folder := range folders {
		if nested(p, folder) {
			c.fail(cluster, at("spec", "path"), "write a path such as clusters/"+cluster.Metadata.Name, "path %s overlaps the folder %s", quote(p), quote(folder))
		}
	}
}

// nested says whether one clean path is the other or lies inside of it.
func nested(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

var plainPath = regexp.MustCompile(`^[A-Za-z0-9._/@+-]*$`)

// pathProblem says why a path does not stay inside of a repository; empty when
// it does.
func pathProblem(p string) string {
	segments := strings.Split(p, "/")
	switch {
	case strings.Contains(p, `\`):
		return "has a backslash"
	case path.IsAbs(p):
		return "is absolute"
	case slices.Contains(segments, ".."):
		return "leaves the repository"
	case slices.ContainsFunc(segments, func(s string) bool { return strings.EqualFold(s, ".git") }):
		return "reaches into .git"
	case !plainPath.MatchString(p):
		return "has other characters than letters, digits and . _ - + @ /"
	}
	return ""
}

// isInside says whether a path stays inside of a repository.
func isInside(p string) bool { return pathProblem(p) == "" }

const urlHint = "write a scheme, a host and a path, such as https://git.example.com/platform/fleet.git"

// url checks a URL that Flux fetches from: it has a host, or a path for file://,
// and no password.
func (c *checker) url(of any, p *fieldPath, raw string) {
	if raw == "" {
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		c.fail(of, p, urlHint, "%s is %s, which is not a URL", p, quote(raw))
		return
	case u.Host == "" && u.Scheme != "file":
		c.fail(of, p, urlHint, "%s is %s, which has no host", p, quote(raw))
	case strings.ContainsAny(raw, "${} \t\n"):
		c.fail(of, p, urlHint, "%s is %s, which has characters that no URL has", p, quote(raw))
	}
	if _, has := u.User.Password(); has {
		c.fail(of, p, "take it out, put the credentials into a Secret of the cluster and name that in secretRef", "%s holds a password", p)
	}
}

var gitBranch = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+@#-]*$`)

// branch checks the name of a branch, more strictly than git does.
func (c *checker) branch(of any, p *fieldPath, name string) {
	bad := !gitBranch.MatchString(name) || strings.Contains(name, "..") || strings.Contains(name, "//") || strings.Contains(name, "@{") ||
		strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, ".lock") || strings.Contains(name, "/.")
	if name != "" && bad {
		c.fail(of, p, "write a name such as main or release/1.2, without refs/heads/", "%s is %s, which is not a branch's name", p, quote(name))
	}
}

// selector reports each part of a selector that matches no cluster.
func (c *checker) selector(of any, p *fieldPath, sel ClusterSelector) {
	if c.incomplete || len(c.spec.Clusters) == 0 {
		return
	}
	values := c.known.labels
	dangling := c.eachIn(of, p.child("names"), "cluster", "add an object of kind Cluster", sel.Names, c.known.clusters)
	dangling = c.eachIn(of, p.child("environments"), "environment", "set it in spec.environment of a Cluster", sel.Environments, c.known.environments) || dangling
	for _, key := range slices.Sorted(maps.Keys(sel.MatchLabels)) {
		switch value := sel.MatchLabels[key]; {
		case values[key] == nil:
			dangling = true
			c.failKey(of, p.child("matchLabels").child(key), c.report.suggest(key, "label", "add it to metadata.labels of a Cluster", slices.Collect(maps.Keys(values))), "no cluster has the label %s", quote(key))
		case !slices.Contains(values[key], value):
			dangling = true
			c.fail(of, p.child("matchLabels").child(key), c.report.suggest(value, "value", "set it in metadata.labels of a Cluster", values[key]), "no cluster has the label %s: %s", key, quote(value))
		}
	}
	if !dangling && len(c.spec.Selected(sel)) == 0 {
		c.fail(of, p, "its parts are ANDed: each matches a cluster, but no cluster matches all", "%s selects no cluster", p)
	}
}

// eachIn reports the names of a list that are not among the valid ones, which
// are sorted; otherwise says what makes one valid.
func (c *checker) eachIn(of any, p *fieldPath, what, otherwise string, names, valid []string) (dangling bool) {
	for i, name := range names {
		if _, found := slices.BinarySearch(valid, name); !found {
			dangling = true
			c.fail(of, p.item(i), c.report.suggest(name, what, otherwise, valid), "there is no %s %s", what, quote(name))
		}
	}
	return dangling
}
