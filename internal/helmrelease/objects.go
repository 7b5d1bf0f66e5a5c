package helmrelease

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// Object returns an object as Flux applies it, each part with the place where it is written: in
// the document from which it was built, or in the patch that sets it.
func (g *Index) Object(o *reconcile.Object) *located.Value {
	if v, done := g.placed[o]; done {
		return v
	}
	if v := o.Places(); v != nil {
		return v
	}
	l := layout{object: o, open: g.open(o) && !substitutionDisabled(o)}
	v := l.value(o.Value, nil)
	g.placed[o] = v
	return v
}

// open reports whether Flux may substitute variables in an object whose values are not in the repository:
// by a Kustomization that applies it elsewhere, or from an object that isn't in Git. An object that no cluster
// applies was built from a folder alone.
func (g *Index) open(o *reconcile.Object) bool {
	if k := o.Kustomization; k == nil || k.Object == nil && !slices.Contains(g.Fleet.Clusters, k.Cluster) {
		return g.substitutes
	}
	return !o.Substituted && slices.ContainsFunc(o.Kustomization.References, func(r reconcile.Reference) bool { return r.Found == nil })
}

func substitutionDisabled(o *reconcile.Object) bool {
	const key = fluxapi.KustomizeGroup + "/substitute"
	for _, field := range []string{"annotations", "labels"} {
		marks, _ := FieldOf(o.Value, "metadata", field).(map[string]any)
		if marks[key] == "disabled" {
			return true
		}
	}
	return false
}

// layout finds the places of the parts of an object.
type layout struct {
	object *reconcile.Object
	// open is set if Flux may substitute variables with unknown values in the object.
	open bool
}

// value returns the value v, which is at a path of the object, with its place.
func (l layout) value(v any, path []any) *located.Value {
	out := &located.Value{}
	switch v := v.(type) {
	case map[string]any:
		out.Place, out.Patched = l.place(path, true)
		out.IsMap, out.Fields = true, make(map[string]*located.Value, len(v))
		for key, field := range v {
			out.Fields[key] = l.value(field, append(path[:len(path):len(path)], key))
		}
	case []any:
		out.Place, out.Patched = l.place(path, true)
		out.IsList = true
		for i, item := range v {
			out.Items = append(out.Items, l.value(item, append(path[:len(path):len(path)], i)))
		}
	default:
		out.Place, out.Patched = l.place(path, false)
		out.Scalar = v
		l.variables(out, path)
	}
	return out
}

// place returns the place where the value at a path is written, or its key, and whether that is in a patch.
func (l layout) place(path []any, key bool) (at finding.Place, patched bool) {
	o := l.object
	own := o.Place
	if key {
		at = o.KeyPosition(path...)
		if o.Source != nil {
			own.Line, own.Column = o.Source.KeyPosition(path...)
		}
	} else {
		at = o.Position(path...)
		if o.Source != nil {
			own.Line, own.Column = o.Source.Position(path...)
		}
	}
	return finding.Place{File: at.File, Line: at.Line}, at != own
}

// variables marks a scalar in which Flux substitutes variables, or one whose variables are unknown.
func (l layout) variables(v *located.Value, path []any) {
	o := l.object
	if o.Substituted && o.Source != nil {
		if n := o.Source.Lookup(path...); n != nil && n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "$") {
			v.Substituted, v.Spelled = true, fmt.Sprint(v.Scalar)
		}
	}
	text, isText := v.Scalar.(string)
	switch {
	case !isText:
	case o.Encrypted && strings.HasPrefix(text, "ENC["):
		v.Unknown = &located.Unknown{Reason: fmt.Sprintf("%s %s is encrypted", o.Kind, o.Name)}
	default:
		v.Unknown = l.unknown(text)
	}
}

// unknown returns which variable in a string of the object is unknown, nil if none is.
func (l layout) unknown(text string) *located.Unknown {
	if l.open && located.Variable.MatchString(text) {
		return &located.Unknown{Reason: fmt.Sprintf("Flux substitutes %s, whose value is not in the repository", variableIn(text))}
	}
	return unknownVariable(l.object, text)
}

// unknownVariable returns which variable in a string of an object is unknown, nil if none is.
func unknownVariable(o *reconcile.Object, text string) *located.Unknown {
	for _, name := range o.Unknown {
		if strings.Contains(text, "${"+name+"}") {
			return &located.Unknown{Reason: fmt.Sprintf("Flux substitutes ${%s}, whose value is not in the repository", name)}
		}
	}
	return nil
}

// variableIn returns the first variable in a string, such as "${DOMAIN}".
func variableIn(text string) string {
	_, rest, _ := strings.Cut(text, "${")
	name, _, _ := strings.Cut(rest, "}")
	return "${" + name + "}"
}
