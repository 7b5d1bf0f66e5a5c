package reconcile

import "github.com/fleetwright/fleetwright/internal/charts"

// Results keeps what charts render, by all that it depends on. What it returns was stored by the same user.
type Results interface {
	// ID returns the name of the result of some inputs.
	ID(inputs []byte) string
	Read(id string) ([]byte, bool)
	Write(id string, data []byte) error
}

// rendered renders a release, or takes the result that is kept. Nothing is kept of a release that may hold secrets.
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
		if result, err := charts.Kept(data); err == nil {
			return result, nil
		}
	}
	result, err := charts.Render(r.ctx, request)
	if err == nil {
		if data := result.Keep(); data != nil {
			_ = results.Write(id, data) // what is not kept is rendered again
		}
	}
	return result, err
}

// knowSecrets gathers the cluster's secrets, as far as its Kustomizations are known.
func (w *walker) knowSecrets() {
	if n := len(w.cluster.Kustomizations); n != w.known {
		w.known = n
		w.cluster.know()
	}
}
