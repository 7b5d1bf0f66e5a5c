package helmrelease

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/located"
)

// Values returns the values that helm-controller passes to Helm.
// Source: github.com/fluxcd/pkg/chartutil v1.27, ChartValuesFromReferences: the values of
// valuesFrom are merged in order, and the inline values over them. A targetPath is also set in the inline
// values if it leads into a map that only they contain.
func (g *Index) Values(h *Release) located.Layers {
	whole := g.whole(h)
	m := newMerging(h.Place, whole.At("spec", "values"))
	if files := whole.At("spec", "chart", "spec", "valuesFiles"); files != nil &&
		slices.ContainsFunc(files.Items, func(v *located.Value) bool { return v.Scalar != "values.yaml" }) {
		m.unknownLayer(located.Unknown{Reason: "values come from files inside the chart (valuesFiles)"})
	}
	if from := whole.At("spec", "valuesFrom"); from != nil {
		for _, ref := range from.Items {
			g.addReference(m, h, ref)
		}
	}
	return m.done()
}

// WrittenValues returns the values in the HelmRelease's file, nil if there are none.
func (h *Release) WrittenValues() *located.Value {
	o := h.Applied.Source
	if o == nil {
		return nil
	}
	n := o.Lookup("spec", "values")
	if n == nil {
		return nil
	}
	v, err := located.ValueOf(o.File(), n, located.AsKustomize)
	if err != nil {
		return nil
	}
	return v
}

// addReference adds the values that an entry of valuesFrom refers to.
func (g *Index) addReference(m *merging, h *Release, ref *located.Value) {
	kind, name := located.TextAt(ref, "kind").Value, located.TextAt(ref, "name").Value
	key := cmp.Or(located.TextAt(ref, "valuesKey").Value, "values.yaml")
	target := located.TextAt(ref, "targetPath")
	steps, readable := targetSteps(target.Value)
	if target.Value != "" && !readable {
		m.unknownLayer(located.Unknown{Reason: fmt.Sprintf("the targetPath %q was not evaluated", target.Value)})
		return
	}
	if err := m.created.Add(target.Value); err != nil {
		bounds.Refuse(h.unit(), err.Error())
		m.unknownLayer(located.Unknown{Reason: fmt.Sprintf("the targetPath %q was not evaluated: %v", located.Shorten(target.Value), err)})
		return
	}
	fail := func(because located.Unknown) {
		if len(steps) > 0 {
			m.set(steps, &located.Value{Place: ref.Place, Unknown: &because, Referred: true})
			return
		}
		m.unknownLayer(because)
	}
	if kind != "ConfigMap" && kind != "Secret" {
		fail(located.Unknown{Reason: fmt.Sprintf("values come from a %s, which is not supported", kind)})
		return
	}
	d, because := g.datum(h, kind, name, key)
	switch {
	case because.Reason != "" && located.TextAt(ref, "optional").Value == "true" && d == nil:
		return
	case because.Reason != "":
		fail(because)
	case len(steps) > 0:
		v, ok := d.leaf(located.TextAt(ref, "literal").Value == "true")
		if !ok {
			fail(located.Unknown{Reason: fmt.Sprintf("the value of the targetPath %q was not evaluated", target.Value)})
			return
		}
		m.set(steps, v)
	default:
		v, because := d.values()
		if v == nil {
			fail(because)
			return
		}
		m.layer(v)
	}
}
