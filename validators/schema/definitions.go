package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

const definitionKind = "CustomResourceDefinition"

// kinds finds the schemas of kinds: the embedded ones, and those of the
// repository's own CustomResourceDefinitions.
type kinds struct {
	definitions map[apischema.GroupKind][]definition
}

// definition is a CustomResourceDefinition.
type definition struct {
	object *repository.Object
	// versions that are served, each compiled when it is first asked for.
	versions map[string]func() (*schemas.Schema, error)
}

// findKinds gathers the definitions that Flux or a chart applies.
func findKinds(repo *repository.Repository, patches patches) kinds {
	k := kinds{definitions: map[apischema.GroupKind][]definition{}}
	for _, f := range repo.Files() {
		if f.Excluded || !slices.Contains([]repository.Use{repository.Chart, repository.Input, repository.Plain, repository.Resource}, repo.Use(f.Path)) {
			continue
		}
		for _, d := range f.Documents {
			for _, o := range d.Objects {
				k.add(o, patches)
			}
		}
	}
	return k
}

func (k kinds) add(o *repository.Object, patches patches) {
	if o.Kind != definitionKind || o.Group() != "apiextensions.k8s.io" {
		return
	}
	group, _ := o.Text("spec", "group")
	kind, _ := o.Text("spec", "names", "kind")
	of := apischema.GroupKind{Group: group, Kind: kind}
	k.definitions[of] = append(k.definitions[of], newDefinition(o, of, patches))
}

func newDefinition(o *repository.Object, of apischema.GroupKind, patches patches) definition {
	d := definition{object: o, versions: map[string]func() (*schemas.Schema, error){}}
	scope, _ := o.Text("spec", "scope")
	list := o.Lookup("spec", "versions")
	if list == nil {
		return d
	}
	for i := range list.Content {
		name, _ := o.Text("spec", "versions", i, "name")
		if served, _ := o.Text("spec", "versions", i, "served"); name == "" || served != "true" {
			continue
		}
		d.versions[name] = sync.OnceValues(func() (*schemas.Schema, error) {
			if patches.kinds[definitionKind] {
				return nil, errors.New("a patch may change it")
			}
			value, err := o.Value("spec", "versions", i, "schema", "openAPIV3Schema")
			if err != nil {
				return nil, err
			}
			props, _ := value.(map[string]any)
			return schemas.FromDefinition(of.WithVersion(name), scope == "Namespaced", props)
		})
	}
	return d
}

// lookup returns the schemas of a kind: one, or those of all definitions where
// the repository defines it more than once (for clusters of different age).
// Where there is none it returns the reason, to follow "no schema for KIND".
func (k kinds) lookup(gvk apischema.GroupVersionKind) (found []*schemas.Schema, why string) {
	if s, ok := schemas.Lookup(gvk); ok {
		return []*schemas.Schema{s}, ""
	}
	for _, d := range k.definitions[gvk.GroupKind()] {
		compile, ok := d.versions[gvk.Version]
		if !ok {
			continue
		}
		s, err := compile()
		if err != nil {
			return nil, fmt.Sprintf("the %s in %s cannot be used: %v", definitionKind, place(d.object), err)
		}
		found = append(found, s)
	}
	if len(found) > 0 {
		return found, ""
	}
	const definition = "the " + definitionKind + " that serves it"
	if known := k.versions(gvk.GroupKind()); len(known) > 0 {
		return nil, fmt.Sprintf("of this kind %s is known; move to a known version, or add %s to the repository",
			strings.Join(known, " and "), definition)
	}
	return nil, "add " + definition + " to the repository to have it checked"
}

// versions are those with a schema, of any source, sorted.
func (k kinds) versions(of apischema.GroupKind) []string {
	var known []string
	for _, gvk := range schemas.Kinds() {
		if gvk.GroupKind() == of {
			known = append(known, gvk.Version)
		}
	}
	for _, d := range k.definitions[of] {
		for version := range d.versions {
			known = append(known, version)
		}
	}
	slices.Sort(known)
	return slices.Compact(known)
}

func place(o *repository.Object) string {
	if line, _ := o.Position(); line > 0 {
		return fmt.Sprintf("%s:%d", o.File(), line)
	}
	return o.File()
}

// validate checks an object against the schemas of its kind, and returns the
// fewest problems that one of them gives.
func validate(found []*schemas.Schema, object map[string]any) []schemas.Problem {
	all := make([][]schemas.Problem, 0, len(found))
	for _, s := range found {
		all = append(all, s.Validate(object))
	}
	return slices.MinFunc(all, func(a, b []schemas.Problem) int { return cmp.Compare(len(a), len(b)) })
}

// isLocal recognises an object that kustomize leaves out of what it builds.
func isLocal(o *repository.Object) bool {
	local, ok := o.Text("metadata", "annotations", "config.kubernetes.io/local-config")
	return ok && local != "false"
}

// gap gathers the objects of one kind that has no schema.
type gap struct {
	kind, why, file string
	line, objects   int
}

func addGap(all []*gap, c checked) []*gap {
	kind := c.object.APIVersion + " " + c.object.Kind
	at := slices.IndexFunc(all, func(g *gap) bool { return g.kind == kind })
	if at < 0 {
		at = len(all)
		all = append(all, &gap{kind: kind, why: c.noSchema, file: c.file, line: c.line})
	}
	all[at].objects++
	return all
}

func (g *gap) String() string {
	objects := "1 object"
	if g.objects != 1 {
		objects = fmt.Sprintf("%d objects", g.objects)
	}
	return fmt.Sprintf("no schema for %s (%s): %s", g.kind, objects, g.why)
}
