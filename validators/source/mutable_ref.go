package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// MutableRef is the rule source-mutable-ref.
var MutableRef = rule.Rule{
	ID:       "source-mutable-ref",
	Title:    "a version that changes without a commit",
	Severity: finding.Warning,
	Why: `The cluster changes when somebody else publishes a version, not when you commit: a new major version is installed at
night, a rebuilt cluster gets other versions than before, and Git has no commit to revert. The published version may also
come from an attacker.

The rule reports a chart without a version, with the range * or with a tag such as latest. It reports a Git
repository or an artifact of manifests that is followed by branch or by such a tag, if it has another owner: it is on a
public host, is read without credentials, and its owner is not that of the repository that the cluster syncs. A branch of
your own repository is not reported.

A range without an upper bound (>=1.0.0), which allows any major version, is an info. A range within a major
version (1.x) is a deliberate choice, and not reported.`,
	Fix: `Pin the version, and let a bot (Renovate, Dependabot, Flux's image automation) propose updates in commits. A
digest in addition to the tag (ref.digest) also protects against a tag that is moved.`,
	Run: func(p *rule.Pass) {
		objects := p.Applied()
		m := mutable{Pass: p, charts: usedAs(objects, "HelmRelease"), manifests: usedAs(objects, "Kustomization"), strangers: strangers{}}
		for _, o := range objects {
			m.judge(o)
		}
	},
}

// mutable checks the versions of sources.
type mutable struct {
	*rule.Pass
	// charts and manifests are the sources that HelmReleases and Kustomizations reference.
	charts, manifests map[use]bool
	strangers         strangers
}

// use is a source that an object of a cluster references.
type use struct {
	cluster               *reconcile.Cluster
	kind, namespace, name string
}

func clusterOf(o *reconcile.Object) *reconcile.Cluster {
	if o.Kustomization == nil {
		return nil
	}
	return o.Kustomization.Cluster
}

// usedAs returns the sources that the objects of a kind reference.
func usedAs(objects []*reconcile.Object, kind string) map[use]bool {
	used := map[use]bool{}
	for _, o := range objects {
		if o.Kind != kind || o.Group != fluxapi.HelmGroup && o.Group != fluxapi.KustomizeGroup {
			continue
		}
		for _, path := range [][]any{{"spec", "sourceRef"}, {"spec", "chartRef"}, {"spec", "chart", "spec", "sourceRef"}} {
			if ref, ok := o.Field(path...).(map[string]any); ok {
				kind, _ := ref["kind"].(string)
				name, _ := ref["name"].(string)
				namespace, _ := ref["namespace"].(string)
				used[use{clusterOf(o), kind, cmp.Or(namespace, o.Namespace), name}] = true
			}
		}
	}
	return used
}

func (m *mutable) judge(o *reconcile.Object) {
	switch {
	case o.Group == fluxapi.HelmGroup && o.Kind == helmRelease && o.Field("spec", "chart", "spec") != nil:
		m.chart(o, "spec", "chart", "spec")
	case isSource(o, helmChart):
		m.chart(o, "spec")
	case isSource(o, ociRepository):
		m.artifact(o)
	case isSource(o, gitRepository):
		m.git(o)
	}
}

// chart checks the version of a chart from a HelmRepository. In other sources, the source itself sets the
// version.
func (m *mutable) chart(o *reconcile.Object, at ...any) {
	path := func(field ...any) []any { return append(slices.Clone(at), field...) }
	if o.Text(path("sourceRef", "kind")...) != helmRepository {
		return
	}
	version := o.Text(path("version")...)
	name := o.Text(path("chart")...)
	switch {
	case version == "" && o.Field(path("version")...) == nil:
		m.report(o, fmt.Sprintf("the chart %q has no version, so Flux always installs the newest one", name), "", path("version")...)
	default:
		m.reportRange(o, version, fmt.Sprintf("the chart %q", name), "", path("version")...)
	}
}

// artifact checks the reference of an OCIRepository.
func (m *mutable) artifact(o *reconcile.Object) {
	this := use{clusterOf(o), ociRepository, o.Namespace, o.Name}
	if !m.charts[this] && (!m.manifests[this] || !m.strangers.isStranger(o)) {
		return
	}
	if !refIsRead(o, "digest", "semver", "semverFilter", "tag") {
		return
	}
	switch semverRange, tag := o.Text("spec", "ref", "semver"), o.Text("spec", "ref", "tag"); {
	case o.Text("spec", "ref", "digest") != "":
	case semverRange != "":
		m.reportRange(o, semverRange, o.String(), "", "spec", "ref", "semver")
	case tag == "":
		m.report(o, fmt.Sprintf("%s has neither tag nor digest, so Flux follows the tag latest", o), "", "spec", "ref")
	case isMoving(tag):
		m.report(o, fmt.Sprintf("%s follows the tag %q, which is mutable", o, tag), "", "spec", "ref", "tag")
	}
}

// git checks the reference of a GitRepository of another owner.
func (m *mutable) git(o *reconcile.Object) {
	this := use{clusterOf(o), gitRepository, o.Namespace, o.Name}
	if !m.charts[this] && !m.manifests[this] || !m.strangers.isStranger(o) {
		return
	}
	if !refIsRead(o, "branch", "tag", "semver", "name", "commit") {
		return
	}
	const hint = "pin a tag (ref.tag) or a commit (ref.commit), and let a bot propose updates"
	ref := func(field string) string { return o.Text("spec", "ref", field) }
	switch {
	case ref("commit") != "" || strings.HasPrefix(ref("name"), "refs/tags/"):
	case ref("name") != "":
		m.report(o, fmt.Sprintf("%s follows %q of a repository with another owner", o, ref("name")), hint, "spec", "ref", "name")
	case ref("tag") != "": // before semver, whatever the documentation says: github.com/fluxcd/pkg/git v0.52, gogit
	case ref("semver") != "":
		m.reportRange(o, ref("semver"), o.String(), hint, "spec", "ref", "semver")
	default:
		m.report(o, fmt.Sprintf("%s follows the branch %q of a repository with another owner", o, cmp.Or(ref("branch"), "master")), hint, "spec", "ref", "branch")
	}
}

// refIsRead reports whether spec.ref of a source has only known fields with strings. The meaning of other
// fields is unknown; the schema rules report them.
func refIsRead(o *reconcile.Object, names ...string) bool {
	ref := o.Field("spec", "ref")
	fields, isMap := ref.(map[string]any)
	for name, value := range fields {
		if _, isText := value.(string); !slices.Contains(names, name) || !isText && value != nil {
			return false
		}
	}
	return isMap || ref == nil
}

// reportRange reports a version range without an upper bound.
func (m *mutable) reportRange(o *reconcile.Object, text, what, hint string, path ...any) {
	constraint, err := semver.NewConstraint(text)
	if err != nil || isUnknown(text) || !constraint.Check(semver.New(999_999, 0, 0, "", "")) {
		return
	}
	f := finding.Finding{
		Message: fmt.Sprintf("%s: the range %q has no upper bound and allows any major version", what, text),
		Hint:    cmp.Or(hint, "pin the version, and let a bot propose updates"),
	}
	if !constraint.Check(semver.New(0, 0, 1, "", "")) {
		f.Severity = finding.Info
	}
	m.ReportBuilt(o, f, path...)
}

func (m *mutable) report(o *reconcile.Object, message, hint string, path ...any) {
	m.ReportBuilt(o, finding.Finding{Message: message, Hint: cmp.Or(hint, "pin the version, and let a bot propose updates")}, path...)
}

// isMoving reports whether a tag moves with every build.
func isMoving(tag string) bool {
	return slices.Contains([]string{"latest", "stable", "edge", "nightly", "main", "master", "dev", "develop", "canary", "head"}, strings.ToLower(tag))
}
