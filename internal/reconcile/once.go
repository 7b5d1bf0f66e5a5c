package reconcile

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
)

// withoutReached returns the walkers without those of folders that kubectl seems to apply once, but that another cluster
// reaches or may reach: by a path with variables, a patched path, or a ResourceSet.
func withoutReached(walkers []*walker) []*walker {
	kept := slices.Clone(walkers)
	for _, w := range walkers {
		root := w.cluster.Root
		if root.Once != "" && slices.ContainsFunc(kept, func(other *walker) bool { return other != w && other.mayReach(root) }) {
			kept = slices.DeleteFunc(kept, func(other *walker) bool { return other == w })
		}
	}
	return kept
}

// mayReach reports whether a build of the cluster reads the first Kustomization in a folder that kubectl applies once, or
// whether a path that is not fully known may be this folder.
func (w *walker) mayReach(root roots.Root) bool {
	isOpen := func(g builds.Gap) bool { return g.Kind == builds.UnknownPath }
	for _, k := range w.cluster.Kustomizations {
		isBuilt := k.Repo == w.own.Repo && k.Dir == root.Path || slices.Contains(k.Files, root.Once)
		if isBuilt || slices.ContainsFunc(k.Gaps, isOpen) && mayBe(k.Spec.Path, root.Path) {
			return true
		}
	}
	return slices.ContainsFunc(w.cluster.OpenSets, func(set OpenSet) bool {
		return slices.ContainsFunc(set.Object.templatePaths(), func(at string) bool { return mayBe(at, root.Path) })
	})
}

const unknown = `\$\{[^}]*\}|<<.*?>>`

// unknownPart matches a variable of postBuild and an expression of a ResourceSet's template, and pathIn a path in the text of
// such a template.
var (
	unknownPart = regexp.MustCompile(unknown)
	pathIn      = regexp.MustCompile(`\bpath:[ \t]*["']?((?:` + unknown + `|[^"',}\n])+)`)
)

// templatePaths returns the paths of the Kustomizations that a ResourceSet creates, as its template has them.
func (o *Object) templatePaths() []string {
	var paths []string
	resources, _, _ := unstructured.NestedSlice(o.Value, "spec", "resources")
	for _, resource := range resources {
		fields, _ := resource.(map[string]any)
		if at, isText, _ := unstructured.NestedString(fields, "spec", "path"); isText && fields["kind"] == kindKs {
			paths = append(paths, at)
		}
	}
	for _, match := range pathIn.FindAllStringSubmatch(o.Text("spec", "resourcesTemplate"), -1) {
		paths = append(paths, strings.TrimSpace(match[1]))
	}
	return paths
}

// mayBe reports whether a path with unknown parts may be a folder.
func mayBe(at, dir string) bool {
	var known []string
	for _, part := range unknownPart.Split(repository.Clean(at), -1) {
		known = append(known, regexp.QuoteMeta(part))
	}
	return regexp.MustCompile("^" + strings.Join(known, ".*") + "$").MatchString(dir)
}
