// Package audit holds the rules of the profile audit: advice that its owner may
// have reasons not to follow. They are off unless they are asked for.
package audit

import (
	"slices"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Profile is the name of the profile.
const Profile = "audit"

// The groups of the kinds that are judged.
// long is an interval after which nobody waits beside the screen any more.
const long = 10 * time.Minute

func isKustomization(o *reconcile.Object) bool {
	return o.Group == fluxapi.KustomizeGroup && o.Kind == "Kustomization"
}

// isRelease says whether an object is a whole HelmRelease: an overlay's fragment, in a
// repository that no cluster's root is in, has no chart.
func isRelease(o *reconcile.Object) bool {
	return o.Group == fluxapi.HelmGroup && o.Kind == "HelmRelease" && (o.Field("spec", "chart") != nil || o.Field("spec", "chartRef") != nil)
}

// duration is one of an object, 0 where there is none that is known.
func duration(o *reconcile.Object, path ...any) time.Duration {
	d, err := time.ParseDuration(o.Text(path...))
	if err != nil {
		return 0
	}
	return d
}

// stages are words in names of clusters; the first are those of production.
var stages = [][]string{{"prod", "prd", "live"}, {"stag", "stg", "dev", "test", "tst", "qa", "uat", "preprod", "preview", "sandbox", "lab", "demo"}}

// isProduction says whether a cluster is one of production, by its name. A fleet that
// names no stages is all production; so is a repository without clusters.
func isProduction(p *rule.Pass, c *reconcile.Cluster) bool {
	named := func(c *reconcile.Cluster, words []string) bool {
		path := strings.ToLower(c.Root.Path)
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(path, w) })
	}
	production := func(c *reconcile.Cluster) bool {
		return named(c, stages[0]) && !named(c, []string{"preprod", "nonprod", "non-prod", "pre-prod"})
	}
	if c == nil || production(c) {
		return true
	}
	if slices.ContainsFunc(p.Fleet().Clusters, production) {
		return false
	}
	return !named(c, stages[1])
}

func clusterOf(o *reconcile.Object) *reconcile.Cluster {
	if o.Kustomization == nil {
		return nil
	}
	return o.Kustomization.Cluster
}
