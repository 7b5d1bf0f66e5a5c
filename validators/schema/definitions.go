package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

const definitionKind = "CustomResourceDefinition"

// Kinds are the schemas of a repository's kinds: the embedded ones, those of the
// definitions that Flux or a chart applies, and those of the folders given.
var Kinds = &rule.Analysis[*schemas.Set]{Name: "kinds", RunPass: findKinds}

func findKinds(p *rule.Pass) *schemas.Set {
	set := schemas.NewSet(p.SchemaFolders()...)
	mayChange := patched.Of(p).kinds[definitionKind]
	for _, f := range p.Repo.Files() {
		if f.Excluded || !slices.Contains([]repository.Use{repository.Chart, repository.Input, repository.Plain, repository.Resource}, p.Repo.Use(f.Path)) {
			continue
		}
		for _, d := range f.Documents {
			for _, o := range d.Objects {
				definition, ok := schemas.DefinitionIn(o)
				if !ok {
					continue
				}
				if mayChange {
					for name := range definition.Versions {
						definition.Versions[name] = func() (map[string]any, error) { return nil, errors.New("a patch may change it") }
					}
				}
				set.Add(definition)
			}
		}
	}
	return set
}

// validate checks an object against the schemas of its kind, and returns the
// fewest problems that one of them gives.
func validate(found []*schemas.Schema, object map[string]any, budget *schemas.Budget) []schemas.Problem {
	all := make([][]schemas.Problem, 0, len(found))
	for _, s := range found {
		all = append(all, s.ValidateWithin(object, budget))
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
