package reconcile

import (
	"context"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/charts"
)

// Unused returns the values of a release that have no effect on what its chart renders; none if that is unknown. The
// error is an exceeded limit of Fleetwright, or the context's.
func (release *Release) Unused(ctx context.Context) ([]charts.Unused, error) {
	one := release.rendering
	if one == nil || one.result == nil || one.err != nil || release.failed() {
		return nil, nil //nolint:nilerr // the error of the rendering is reported where the release is rendered
	}
	one.unusedOnce.Do(func() {
		values, err := charts.Compose(ctx, release.spec, release.data)
		if err != nil {
			return
		}
		defer builds.HoldSchema()()
		request := charts.Request{Release: release.spec, Chart: release.chart, Values: values, Capabilities: one.capabilities, Decode: builds.ValueOf, Unit: one.of.unit("")}
		one.unused, one.unusedErr = request.Unused(ctx, one.result)
	})
	return one.unused, one.unusedErr
}
