package k0rdent

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
	kubescheme "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// AccessVersion is k0rdent-access-version.
var AccessVersion = rule.Rule{
	ID:       "k0rdent-access-version",
	Title:    "an access rule that the installed k0rdent release does not accept",
	Severity: finding.Error,
	Why: `Since k0rdent 1.12, the rules of the AccessManagement have resources. Up to 1.11 they have a list for each kind,
and the API server refuses resources as an unknown field. 1.12 also accepts the lists, but its webhook converts
them to resources. The object in the cluster then differs from Git: Flux reverts the conversion and the webhook
repeats it, at every interval.

The webhook of 1.12 also refuses resources of a cluster-scoped kind, and kinds that it does not find. Without an
apiGroup, it looks for chains, Credentials, ClusterAuthentications, DataSources and ClusterAuditPolicies in
k0rdent's own group, and for all other kinds in v1.`,
	Fix: `Write the access rules in the form of the release that the Management references, and set apiGroup for other
kinds.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			version := w.version()
			if version == nil {
				continue
			}
			hasResources := version.Major() > 1 || version.Major() == 1 && version.Minor() >= 12
			for _, o := range w.Of(accessKind) {
				for i := range o.List("spec", "accessRules") {
					w.form(p, o, i, hasResources, version)
					if hasResources {
						checkKinds(p, o, i)
					}
				}
			}
		}
	},
}

// form reports the fields of an access rule that the release does not have, or converts to other fields.
func (w *managementCluster) form(p *rule.Pass, o *reconcile.Object, i int, hasResources bool, version *semver.Version) {
	wrong := []string{"resources"}
	why, hint := "which refuses it as an unknown field", "write clusterTemplateChains, serviceTemplateChains and credentials"
	if hasResources {
		wrong = []string{"clusterTemplateChains", "serviceTemplateChains", "credentials", "clusterAuthentications", "dataSources", "clusterAuditPolicies"}
		why, hint = "whose webhook converts it to resources, and Flux reverts that", "write resources with kind and names"
	}
	for _, field := range wrong {
		path := []any{"spec", "accessRules", i, field}
		if o.Field(path...) == nil {
			continue
		}
		f := finding.Finding{Message: fmt.Sprintf("%s has %s, and the Management runs k0rdent %s, %s", o, field, version, why), Hint: hint}
		if hasResources {
			f.Severity = finding.Warning
		}
		f.Place = o.KeyPosition(path...)
		p.ReportBuilt(o, f, path...)
	}
}

// checkKinds reports the kinds of an access rule's resources that are cluster-scoped, or that do not exist in an API
// group whose kinds are known.
func checkKinds(p *rule.Pass, o *reconcile.Object, i int) {
	for j := range o.List("spec", "accessRules", i, "resources") {
		path := []any{"spec", "accessRules", i, "resources", j, "kind"}
		kind, of := o.Text(path...), o.Text("spec", "accessRules", i, "resources", j, "apiGroup")
		if of == "" && accessLists[kind] != "" {
			of = group
		}
		if kind == "" || platform.Unknown(kind+of) || of != "" && of != group {
			continue
		}
		is := kubescheme.GroupVersionKind{Group: of, Version: "v1", Kind: kind}
		if of == group {
			is.Version = "v1beta1"
		}
		s, known := schemas.Lookup(is)
		f := finding.Finding{Message: fmt.Sprintf("%s distributes %s, which is cluster-scoped: kcm refuses it", o, kind)}
		if !known {
			f.Message = fmt.Sprintf("%s distributes kind %s, which does not exist in API group %q: kcm refuses it", o, kind, of)
			if _, own := schemas.Lookup(kubescheme.GroupVersionKind{Group: group, Version: "v1beta1", Kind: kind}); own {
				f.Hint = "add apiGroup: " + group
			}
		} else if s.Namespaced {
			continue
		}
		p.ReportBuilt(o, f, path...)
	}
}

// version returns the version of the Release that the Management references, or of the Release that kcm creates; nil if
// it is unknown.
func (w *managementCluster) version() *semver.Version {
	if of := w.ownRelease(); of != "" {
		v, err := semver.NewVersion(of)
		if err == nil {
			return v
		}
	}
	for _, m := range w.Of(management) {
		r := w.All[reconcile.Identity{Group: group, Kind: release, Name: m.Text("spec", "release")}]
		if r == nil {
			continue
		}
		if v, err := semver.NewVersion(r.Text("spec", "version")); err == nil {
			return v
		}
	}
	return nil
}
