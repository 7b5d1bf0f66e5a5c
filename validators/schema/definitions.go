package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

const definitionKind = "CustomResourceDefinition"

// Kinds are the schemas of a repository's kinds: the embedded schemas, the definitions that Flux or a chart applies, and
// the schemas in the folders of --schemas.
var Kinds = &rule.Analysis[*schemas.Set]{Name: "kinds", RunPass: findKinds}

func findKinds(p *rule.Pass) *schemas.Set {
	set := schemas.NewSet(p.SchemaFolders()...)
	eachDefinition(p, set.Add)
	return set
}

// unlessPatched returns a definition that cannot be used if a patch may change it.
func unlessPatched(d schemas.Definition, mayChange bool) schemas.Definition {
	for name := range d.Versions {
		if mayChange {
			d.Versions[name] = func() (map[string]any, error) { return nil, errors.New("a patch may change it") }
		}
	}
	return d
}

// validate checks an object, with the defaults of the webhooks of its kind, against the schemas of its kind. It returns
// the problems of the schema with the fewest problems, and those that no schema covers. For an object that is created as
// it is (created is not nil), it adds the errors of the API server's code.
func validate(found []*schemas.Schema, whole map[string]any, opts schemas.Options, created *admitted) []schemas.Problem {
	object := whole
	opts.Misspelt = true
	object = schemas.Admitted(object)
	all := make([][]schemas.Problem, 0, len(found))
	for _, s := range found {
		all = append(all, s.ValidateWith(object, opts))
	}
	fewest := slices.MinFunc(all, func(a, b []schemas.Problem) int { return cmp.Compare(len(a), len(b)) })
	fewest = slices.Concat(fewest, rangeProblems(object), workloadProblems(object), bindingProblems(object), expressionProblems(object))
	if created == nil || created.knows(whole) {
		return fewest
	}
	refused := createdProblems(object, opts)
	if len(refused) == 0 {
		created.add(whole)
	}
	return append(fewest, unexplained(refused, fewest)...)
}

// isLocal reports whether an object is one that kustomize omits from its builds, or one of Fleetwright's own, which no
// cluster serves.
func isLocal(o *repository.Object) bool {
	if o.Group() == v1alpha1.Group && slices.Contains(v1alpha1.KindNames(), o.Kind) {
		return true
	}
	local, ok := o.Text("metadata", "annotations", "config.kubernetes.io/local-config")
	return ok && local != "false"
}

// gap collects the objects of a kind that has no schema.
type gap struct {
	kind, why string
	finding.Place
	// objects are counted by their places: clusters share bases.
	objects map[finding.Place]bool
}

func addGap(all []*gap, c checked) []*gap {
	kind := c.object.APIVersion + " " + c.object.Kind
	at := slices.IndexFunc(all, func(g *gap) bool { return g.kind == kind })
	if at < 0 {
		at = len(all)
		all = append(all, &gap{kind: kind, why: c.noSchema, Place: c.Place, objects: map[finding.Place]bool{}})
	}
	all[at].objects[finding.Place{File: c.File, Line: c.Line}] = true
	return all
}

func (g *gap) String() string {
	objects := "1 object"
	if n := len(g.objects); n != 1 {
		objects = fmt.Sprintf("%d objects", n)
	}
	return fmt.Sprintf("no schema for %s (%s)", g.kind, objects)
}
