package k0rdent

import (
	"fmt"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// AccessVersion is k0rdent-access-version.
var AccessVersion = rule.Rule{
	ID:       "k0rdent-access-version",
	Title:    "a rule of access in the form of another release of k0rdent",
	Severity: finding.Error,
	Why: `From k0rdent 1.12 on the rules of the AccessManagement have resources; up to 1.11 they have a list for each kind, and the
API server refuses resources as an unknown field. 1.12 takes the lists too, and its webhook turns them into resources: what
Git says is then no longer what the cluster has, so Flux sets it back and the webhook turns it again, at each interval.`,
	Fix:  `Write the rules in the form of the release that the Management names.`,
	Bad:  []rule.Example{{Files: base + chains + managedBy("1.11.4") + access("list: [team]", "resources: # <-- here\n    - kind: ClusterTemplateChain\n      names: [aws-1-0-43]")}},
	Good: []rule.Example{{Files: base + chains + managedBy("1.12.0") + access("list: [team]", "resources:\n    - kind: ClusterTemplateChain\n      names: [aws-1-0-43]")}},
	Run: func(p *rule.Pass) {
		for _, w := range worlds(p) {
			version := w.version()
			if version == nil {
				continue
			}
			hasResources := version.Major() > 1 || version.Major() == 1 && version.Minor() >= 12
			for _, o := range w.Of(accessKind) {
				for i := range o.List("spec", "accessRules") {
					w.form(p, o, i, hasResources, version)
				}
			}
		}
	},
}

// form reports the fields of a rule of access that the release doesn't have, or
// turns into others.
func (w *world) form(p *rule.Pass, o *reconcile.Object, i int, hasResources bool, version *semver.Version) {
	wrong := []string{"resources"}
	why, hint := "which is refused as an unknown field", "write clusterTemplateChains, serviceTemplateChains and credentials"
	if hasResources {
		wrong = []string{"clusterTemplateChains", "serviceTemplateChains", "credentials", "clusterAuthentications", "dataSources", "clusterAuditPolicies"}
		why, hint = "which its webhook turns into resources, and Flux back", "write resources with kind and names"
	}
	for _, field := range wrong {
		path := []any{"spec", "accessRules", i, field}
		if o.Field(path...) == nil {
			continue
		}
		f := finding.Finding{Message: fmt.Sprintf("%s has %s, and the Management is of k0rdent %s, %s", o, field, version, why), Hint: hint}
		if hasResources {
			f.Severity = finding.Warning
		}
		f.File, f.Line, f.Column = o.KeyPosition(path...)
		p.ReportBuilt(o, f, path...)
	}
}

// version is that of the Release which the Management names; nil where it isn't
// known.
func (w *world) version() *semver.Version {
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
