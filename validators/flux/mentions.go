package flux

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// mention is a reference of one object to another.
type mention struct {
	of   *reconcile.Object
	id   reconcile.Identity
	path []any
}

// nameField describes a field in which objects of Flux name other objects. The index -1 in the path means each item of a
// list. The path ends at the reference, or at the name if the field is only a name.
type nameField struct {
	group string
	kinds []string
	path  []any
	// to is the kind of the referenced object; "" if the reference itself has the kind.
	to kind
	// crosses reports whether the reference may name another namespace.
	crosses bool
}

// sourceKinds are the kinds that source-controller fetches.
var sourceKinds = []string{"GitRepository", "OCIRepository", "HelmRepository", "Bucket"}

// namesIn returns the references in some fields of the cluster's objects, except for suspended objects and objects that
// are applied to another cluster.
func (w *world) namesIn(fields []nameField) []mention {
	byKind := map[kind][]nameField{}
	for _, f := range fields {
		for _, of := range f.kinds {
			byKind[kind{f.group, of}] = append(byKind[kind{f.group, of}], f)
		}
	}
	var all []mention
	for _, o := range w.applied {
		if suspended(o) || o.HelmRelease != nil {
			continue
		}
		for _, f := range byKind[kind{o.Group, o.Kind}] {
			for _, path := range expand(o.Value, f.path, nil) {
				if n, ok := f.read(o, path); ok {
					all = append(all, n)
				}
			}
		}
	}
	return all
}

// expand replaces the indexes -1 of a path by the indexes of the list's items, and returns one path for each item.
func expand(value any, path, before []any) [][]any {
	if len(path) == 0 {
		return [][]any{before}
	}
	switch step := path[0].(type) {
	case string:
		m, _ := value.(map[string]any)
		if m[step] == nil {
			return nil
		}
		return expand(m[step], path[1:], append(slices.Clone(before), step))
	default:
		var all [][]any
		items, _ := value.([]any)
		for i, item := range items {
			all = append(all, expand(item, path[1:], append(slices.Clone(before), i))...)
		}
		return all
	}
}

// read returns the reference at a path of an object.
func (f nameField) read(o *reconcile.Object, path []any) (mention, bool) {
	value := o.Field(path...)
	n := mention{of: o, id: reconcile.Identity{Group: f.to.group, Kind: f.to.kind, Namespace: o.Namespace}, path: path}
	if name, isText := value.(string); isText {
		n.id.Name = name
	} else {
		n.id.Name, n.path = text(value, "name"), append(slices.Clone(path), "name")
		if f.crosses {
			n.id.Namespace = cmp.Or(text(value, "namespace"), o.Namespace)
		}
		if f.to.kind == "" {
			n.id.Kind = text(value, "kind")
			n.id.Group = cmp.Or(f.to.group, groupOfFlux(n.id.Kind))
		}
	}
	return n, n.id.Name != "" && n.id.Name != "*" && n.id.Kind != "" && !unknown(n.id.Name+n.id.Namespace)
}

// groupOfFlux returns the API group of a kind of Flux that sends events; "" if Flux has no such kind.
func groupOfFlux(of string) string {
	switch {
	case of == kustomizationKind:
		return fluxapi.KustomizeGroup
	case of == helmReleaseKind:
		return fluxapi.HelmGroup
	case slices.Contains(sourceKinds, of):
		return fluxapi.SourceGroup
	case strings.HasPrefix(of, "Image"):
		return fluxapi.ImageGroup
	}
	return ""
}

// report reports a reference to an object that does not exist.
func (n mention) report(p *rule.Pass, w *world, severity finding.Severity, hint string) {
	f := finding.Finding{Place: w.locate(n.of, n.id.Name, n.path...),
		Severity: severity, Message: fmt.Sprintf("%s, which %s references, does not exist", idText(n.id), n.of), Hint: hint,
	}
	p.ReportBuilt(n.of, f)
}

// ask reports as unresolved whether the referenced object exists.
func (n mention) ask(w *world, open *questions, why string) {
	open.add(w.locate(n.of, n.id.Name, n.path...), fmt.Sprintf("whether %s, which %s references, exists", idText(n.id), n.of), why)
}

// unrendered returns the HelmReleases whose charts are not rendered. The keys are their target namespaces, each
// with the release name and each string in the values. Such a release may create an object whose name equals
// the key's name or begins with it.
func (w *world) unrendered() map[account]*reconcile.Object {
	all := map[account]*reconcile.Object{}
	for _, o := range w.applied {
		if !isHelmRelease(o) || w.cluster.Release(o) != nil {
			continue
		}
		namespace := cmp.Or(text(o.Value, "spec", "targetNamespace"), o.Namespace)
		var walk func(value any)
		walk = func(value any) {
			switch value := value.(type) {
			case map[string]any:
				for _, item := range value {
					walk(item)
				}
			case []any:
				for _, item := range value {
					walk(item)
				}
			case string:
				all[account{namespace, value}] = o
			}
		}
		walk(field(o.Value, "spec", "values"))
		all[account{namespace, cmp.Or(text(o.Value, "spec", "releaseName"), o.Name)}] = o
	}
	return all
}

// creator returns the release that may create an object, by its name; nil if there is none.
func creator(releases map[account]*reconcile.Object, id reconcile.Identity) *reconcile.Object {
	for name := id.Name; ; {
		if o := releases[account{id.Namespace, name}]; o != nil {
			return o
		}
		i := strings.LastIndexByte(name, '-')
		if i < 0 {
			return nil
		}
		name = name[:i]
	}
}

// knownNames returns names of Secrets by namespace: of Secrets that exist, that controllers create, or that at least two
// of the references name.
func (w *world) knownNames(references []mention, created map[reconcile.Identity]bool) map[string][]string {
	secret := kind{"", "Secret"}
	names := map[string][]string{}
	for namespace, all := range w.names[secret] {
		names[namespace] = slices.Clone(all)
	}
	for id := range created {
		if id.Kind == secret.kind {
			names[id.Namespace] = append(names[id.Namespace], id.Name)
		}
	}
	times := map[reconcile.Identity]int{}
	for _, n := range references {
		if times[n.id]++; times[n.id] == 2 {
			names[n.id.Namespace] = append(names[n.id.Namespace], n.id.Name)
		}
	}
	for namespace := range names {
		slices.Sort(names[namespace])
	}
	return names
}

// typoOf returns the known name that another name is probably a typo of. A name that is in a file of the repository is
// not a typo.
func (w *world) typoOf(id reconcile.Identity, knownNames []string) (string, bool) {
	if w.written[kind{id.Group, id.Kind}][id.Name] || slices.Contains(knownNames, id.Name) {
		return "", false
	}
	if w.budget.names -= len(knownNames); w.budget.names < 0 {
		return "", false
	}
	return schemas.Misspelt(id.Name, knownNames)
}
