package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Insecure is the rule source-insecure.
var Insecure = rule.Rule{
	ID:       "source-insecure",
	Title:    "a source that is read over an insecure connection",
	Severity: finding.Error,
	Why: `Flux applies the content of a source, usually as cluster-admin. Without TLS, everybody on the network between
the cluster and the source can replace it, and can read the credentials of its secretRef.

The rule checks the URLs of GitRepositories, HelmRepositories, OCIRepositories, Buckets, ImageRepositories and a
FluxInstance's sync, and their field insecure. Services of the cluster itself are skipped. A host of a private
network (192.168.0.0/16, .local, .internal and the like) is an info, since only you can say whether that network
is trusted.`,
	Fix: `Use https:// or ssh://, and remove insecure. Put the certificate of your own certificate authority into
spec.certSecretRef.`,
	Run: func(p *rule.Pass) {
		objects := p.Applied()
		namespaces := map[string]bool{}
		for _, o := range objects {
			namespaces[o.Namespace] = true
		}
		for _, o := range objects {
			insecure(p, o, namespaces)
		}
	},
}

// location is the field with the address of a source, by kind.
var location = map[string][]any{
	fluxapi.SourceGroup + "/" + gitRepository:  {"spec", "url"},
	fluxapi.SourceGroup + "/" + helmRepository: {"spec", "url"},
	fluxapi.SourceGroup + "/" + ociRepository:  {"spec", "url"},
	fluxapi.SourceGroup + "/" + bucket:         {"spec", "endpoint"},
	fluxapi.ImageGroup + "/ImageRepository":    {"spec", "image"},
	fluxapi.OperatorGroup + "/FluxInstance":    {"spec", "sync", "url"},
	// The values of the chart flux-instance. The values of other charts do not have this field.
	fluxapi.HelmGroup + "/" + helmRelease: {"spec", "values", "instance", "sync", "url"},
}

func insecure(p *rule.Pass, o *reconcile.Object, namespaces map[string]bool) {
	path, ok := location[o.Group+"/"+o.Kind]
	text := o.Text(path...)
	if !ok || text == "" {
		return
	}
	flagged, _ := o.Field("spec", "insecure").(bool)
	plain := slices.ContainsFunc([]string{"http://", "git://", "${"}, func(s string) bool { return strings.HasPrefix(text, s) })
	if !flagged && !plain {
		return
	}
	if isUnknown(text) {
		p.Unresolved(o.Position(path...), fmt.Sprintf("%s: its URL contains a variable with an unknown value", o))
		return
	}
	a, ok := parseAddress(text)
	if !ok {
		return
	}
	f := finding.Finding{Hint: "use https:// or ssh://"}
	switch {
	case a.scheme == "http" || a.scheme == "git":
		f.Message = fmt.Sprintf("%s is read from %q, which is neither encrypted nor authenticated", o, a)
	case flagged:
		path = []any{"spec", "insecure"}
		f.Message = fmt.Sprintf("%s may read %q without TLS", o, a)
		f.Hint = "remove insecure; put the certificate of your own CA into spec.certSecretRef"
	default:
		return
	}
	switch reachOf(a.host, namespaces) {
	case inCluster:
		return
	case nearby:
		f.Severity = finding.Info
	}
	p.ReportBuilt(o, f, path...)
}
