package wanted

import (
	"context"
	"errors"
	"slices"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Bootstrapped is a chart that a release of a bootstrap requests: Ask, or why it cannot be fetched.
type Bootstrapped struct {
	Release *helmfile.Release
	Ask     *chartref.Ask
	Reason  string
}

// Bootstraps returns the charts that the bootstraps of a repository request from sources on the network.
func Bootstraps(ctx context.Context, repo *repository.Repository) ([]Bootstrapped, error) {
	files, _, err := helmfile.ReadAll(ctx, repo)
	if errors.Is(err, helmfile.ErrNoBootstrap) {
		return nil, nil
	}
	var all []Bootstrapped
	for _, releases := range files {
		for _, r := range releases {
			ways := r.Variants
			if len(ways) == 0 {
				ways = []*helmfile.Release{r}
			}
			for _, way := range ways {
				one := Bootstrapped{Release: r}
				var failed error
				if one.Ask, failed = way.Request(); failed != nil {
					one.Reason = failed.Error()
				}
				if one.Ask != nil || failed != nil {
					all = append(all, one)
				}
			}
		}
	}
	return all, err
}

// takeBootstraps adds the charts of bootstraps. A chart that an OCIRepository also requests is added once.
func (g *gathering) takeBootstraps(all []Bootstrapped, clusters []string, fleet *reconcile.Fleet) {
	for _, b := range all {
		r := b.Release
		chosen := len(clusters) == 0 || r.Cluster == "" || slices.ContainsFunc(fleet.Clusters, func(c *reconcile.Cluster) bool {
			return c.Is(r.Cluster) && slices.ContainsFunc(clusters, c.Is)
		})
		one := Release{Cluster: r.Cluster, Namespace: r.Namespace.Known(), Name: r.Name.Known(), File: r.File, Line: r.Line, Bootstrap: true, Reason: b.Reason}
		if b.Ask == nil {
			if chosen && !slices.Contains(g.report.Unfetchable, one) {
				g.report.Unfetchable = append(g.report.Unfetchable, one)
			}
			continue
		}
		ask := *b.Ask
		for _, same := range ask.Same() {
			if g.charts[same] {
				ask = same
				break
			}
		}
		g.charts[ask] = true
		if chosen && !slices.Contains(g.releases[ask], one) {
			g.releases[ask] = append(g.releases[ask], one)
		}
	}
}
