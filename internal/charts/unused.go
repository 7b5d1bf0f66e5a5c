package charts

import (
	"context"
	"reflect"
	"slices"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/valueuse"
)

// uses returns how the chart's templates use the values, computed once; nil if that is not possible.
func (c *Chart) uses() *valueuse.Reads {
	c.usesOnce.Do(func() {
		if r, ok := valueuse.Of(c.chart); ok {
			c.reads = r
		}
	})
	return c.reads
}

// Unused is a value of a release that has no effect.
type Unused struct {
	Path []any
	// Known are the names beside it that the chart has.
	Known []string
}

// mostSingle is the maximum of values that are tried one by one if some of them have an effect.
const mostSingle = 8

// Unused returns the values of a request that no template reads and without which the chart renders the same. It returns
// none if that cannot be decided.
func (r Request) Unused(ctx context.Context, rendered *Result) ([]Unused, error) {
	paths, err := bounds.Do(r.part("values use"), func() ([][]any, error) {
		if reads := r.Chart.uses(); reads != nil {
			return reads.Unread(r.Values.All), nil
		}
		return nil, nil
	})
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	if same, err := r.rendersWithout(ctx, rendered, paths...); err != nil || !same {
		if err != nil || len(paths) == 1 || len(paths) > mostSingle {
			return nil, err
		}
		var single [][]any
		for _, path := range paths {
			same, err := r.rendersWithout(ctx, rendered, path)
			if err != nil {
				return nil, err
			}
			if same {
				single = append(single, path)
			}
		}
		paths = single
	}
	var all []Unused
	for _, path := range paths {
		all = append(all, Unused{path, r.Chart.uses().Known(path)})
	}
	return all, nil
}

// rendersWithout reports whether the chart renders the same without some values.
func (r Request) rendersWithout(ctx context.Context, rendered *Result, paths ...[]any) (bool, error) {
	var values any = r.Values.All
	for _, path := range slices.Backward(paths) { // the last items of a list first
		values = without(values, path)
	}
	all, _ := values.(map[string]any)
	r.Values = &Values{All: all, secrets: r.Values.secrets}
	other, err := Render(ctx, r)
	switch {
	case limited(err) || ctx.Err() != nil:
		return false, err
	case err != nil || len(other.Problems) > 0:
		return false, nil //nolint:nilerr // it does not render without them
	}
	return reflect.DeepEqual(other.Manifests, rendered.Manifests) && reflect.DeepEqual(other.Hooks, rendered.Hooks) && reflect.DeepEqual(other.Definitions, rendered.Definitions), nil
}

// without returns a copy of a value without the value at a path.
func without(v any, path []any) any {
	switch step := path[0].(type) {
	case string:
		fields, _ := v.(map[string]any)
		copied := make(map[string]any, len(fields))
		for key, item := range fields {
			switch {
			case key != step:
				copied[key] = item
			case len(path) > 1:
				copied[key] = without(item, path[1:])
			}
		}
		return copied
	case int:
		list, _ := v.([]any)
		if step >= len(list) {
			return v
		}
		copied := slices.Clone(list)
		if len(path) == 1 {
			return slices.Delete(copied, step, step+1)
		}
		copied[step] = without(list[step], path[1:])
		return copied
	}
	return v
}
