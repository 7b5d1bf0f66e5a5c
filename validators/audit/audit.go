// Package audit holds the rules of the profile audit: advice that users may have good reasons not to follow.
// These rules are off by default.
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

// The API groups of the checked kinds. long is the shortest interval that is too long for a user to wait.
const long = 10 * time.Minute

func isKustomization(o *reconcile.Object) bool {
	return o.Group == fluxapi.KustomizeGroup && o.Kind == "Kustomization"
}

// isRelease reports whether an object is a complete HelmRelease. A patch in an overlay, as it appears in a
// repository without a cluster's root, has no chart.
func isRelease(o *reconcile.Object) bool {
	return o.Group == fluxapi.HelmGroup && o.Kind == "HelmRelease" && (o.Field("spec", "chart") != nil || o.Field("spec", "chartRef") != nil)
}

// duration returns the duration at a path of an object, or 0 if there is none or it is not a valid duration.
func duration(o *reconcile.Object, path ...any) time.Duration {
	d, err := time.ParseDuration(o.Text(path...))
	if err != nil {
		return 0
	}
	return d
}

// stages are words in the names of clusters; the first list means production, the second all other stages.
var stages = [][]string{{"prod", "prd", "live"}, {"stag", "stg", "dev", "test", "tst", "qa", "uat", "preprod", "preview", "sandbox", "lab", "demo"}}

// isProduction reports whether a cluster is a production cluster, by the name of its folder. If no cluster has
// the name of a stage, all are production. A repository without clusters counts as production.
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

// orSpecified adds to a hint the field of a specification that sets the value in generated objects, if the repository has
// a specification.
func orSpecified(p *rule.Pass, hint, field string) string {
	if len(p.Repo.ByKind("fleetwright.dev", "Fleet")) == 0 {
		return hint
	}
	return hint + "; in generated objects, set it with " + field
}
