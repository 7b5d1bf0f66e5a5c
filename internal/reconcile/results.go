package reconcile

import "github.com/fleetwright/fleetwright/internal/charts"

// Results is a cache of what charts render, keyed by all inputs. Its content was stored by the same user.
type Results interface {
	// ID returns the name of the result of some inputs.
	ID(inputs []byte) string
	Read(id string) ([]byte, bool)
	Write(id string, data []byte) error
}

// rendered renders a release, or reads its result from the cache. No result is cached for a release that may hold
// secrets.
func (r *releases) rendered(request charts.Request, secrets []string) (*charts.Result, error) {
	var results Results
	if r.results != nil && request.Chart.Digest != "" {
		results = r.results()
	}
	if results == nil {
		return charts.Render(r.ctx, request)
	}
	inputs := request.Inputs(secrets)
	if inputs == nil {
		return charts.Render(r.ctx, request)
	}
	id := results.ID(inputs)
	if data, found := results.Read(id); found {
		if result, err := charts.Decode(data); err == nil {
			return result, nil
		}
	}
	result, err := charts.Render(r.ctx, request)
	if err == nil {
		if data := result.Encode(); data != nil {
			_ = results.Write(id, data) // a result that is not cached is rendered again
		}
	}
	return result, err
}

// collectSecrets collects the cluster's secrets from the Kustomizations that are known so far.
func (w *walker) collectSecrets() {
	if n := len(w.cluster.Kustomizations); n != w.known {
		w.known = n
		w.cluster.collectSecrets()
	}
}
