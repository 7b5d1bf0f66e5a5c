package k0rdent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/kcm"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ProviderMissing is k0rdent-provider-missing.
var ProviderMissing = rule.Rule{
	ID:       "k0rdent-provider-missing",
	Title:    "a required provider that is not enabled, or not in the Release",
	Severity: finding.Error,
	Why: `The Management, or a Region, enables providers by name. kcm takes the template of each provider from the
Release, unless the provider sets its own: a name that the Release does not have is never installed. kcm's
webhook refuses a cluster whose template needs a provider that is not installed in the Region of its credential,
or without a Region in the Management. It also refuses a Management or Region that removes a provider which a
cluster still needs.

A template declares the providers that it needs in spec.providers, or its chart does. For kcm's own charts they
are known, also if kcm creates the templates. If the contents of an enabled provider are unknown, the check is
unresolved. If Git has no Management and controller.createManagement is not false in kcm's HelmRelease, kcm creates
one with all providers of its Release.`,
	Fix: `Enable the provider in the Management or Region, and ensure that the Release has it. Or remove the clusters
that need it first.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			for _, kind := range []string{management, region} {
				for _, o := range w.Of(kind) {
					w.notInRelease(p, o)
				}
			}
			known := map[*reconcile.Object]*enabledProviders{}
			for _, o := range w.Of(clusterKind) {
				w.notEnabled(p, o, known)
			}
		}
	},
}

// releaseOf returns the Release of the Management, or of the Management that kcm creates; nil if it is not in Git.
func (w *managementCluster) releaseOf() *reconcile.Object {
	for _, m := range w.Of(management) {
		if r := w.All[reconcile.Identity{Group: group, Kind: release, Name: m.Text("spec", "release")}]; r != nil {
			return r
		}
	}
	if creates, _ := w.on(createManagement); len(w.Of(management)) == 0 && creates && w.kcm.version != "" {
		for _, r := range w.Of(release) {
			if exact(r.Text("spec", "version")) == w.kcm.version {
				return r
			}
		}
	}
	return nil
}

// inRelease returns the providers of the Management's Release, and a name of that Release for messages; "" if the Release
// is unknown.
func (w *managementCluster) inRelease() (names []string, called string) {
	if r := w.releaseOf(); r != nil {
		for i := range r.List("spec", "providers") {
			names = append(names, r.Text("spec", "providers", i, "name"))
		}
		return names, r.String()
	}
	of := kcm.ReleaseOf(w.ownRelease())
	if of == nil || w.kcm.charts != "" {
		return nil, ""
	}
	return of.Providers(), "the Release that kcm " + of.Version + " creates"
}

// ownRelease returns the version of the Release that kcm creates, if the Management references it. It returns "" if kcm
// creates none, or if that is unknown.
func (w *managementCluster) ownRelease() string {
	if is, _ := w.createsRelease(); !is || w.kcm.version == "" {
		return ""
	}
	own := v1alpha1.K0rdentObjectName(v1alpha1.K0rdentKCM, w.kcm.version)
	for _, m := range w.Of(management) {
		if m.Text("spec", "release") != own {
			return ""
		}
	}
	return w.kcm.version
}

// notInRelease reports the providers of a Management or Region that have no template.
func (w *managementCluster) notInRelease(p *rule.Pass, o *reconcile.Object) {
	names, r := w.inRelease()
	if r == "" {
		return // reported by another rule
	}
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
		if platform.Unknown(name) {
			return
		}
	}
	for i := range o.List("spec", "providers") {
		path := []any{"spec", "providers", i, "name"}
		name := o.Text(path...)
		if name == "" || known[name] || platform.Unknown(name) || o.Text("spec", "providers", i, "template") != "" {
			continue
		}
		f := finding.Finding{
			Message: fmt.Sprintf("%s enables provider %s, which is not in %s: it is never installed", o, name, r),
			Hint:    "add it to the Release, or set the provider's template",
		}
		if near := w.Hints.Nearest(name, names); near != "" {
			f.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		p.ReportBuilt(o, f, path...)
	}
}

// enabledProviders holds the Cluster API providers that a Management or Region enables, under the names that clusters
// require. open is the reason why there may be more.
type enabledProviders struct {
	names map[string]bool
	open  string
}

// released returns the templates of the providers in the Release, by provider.
func (w *managementCluster) released() map[string]string {
	out := map[string]string{}
	r := w.releaseOf()
	if r == nil {
		if of := kcm.ReleaseOf(w.ownRelease()); of != nil && w.kcm.charts == "" {
			for _, chart := range of.Providers() {
				out[chart] = v1alpha1.K0rdentObjectName(chart, of.ChartVersion(chart))
			}
		}
		return out
	}
	for i := range r.List("spec", "providers") {
		out[r.Text("spec", "providers", i, "name")] = r.Text("spec", "providers", i, "template")
	}
	return out
}

// brings returns the Cluster API providers that the i-th provider of a Management or Region installs. known reports
// whether they are known.
func (w *managementCluster) brings(o *reconcile.Object, i int, released map[string]string) (brings []string, known bool) {
	name := o.Text("spec", "providers", i, "name")
	return w.bringsOf(name, cmp.Or(o.Text("spec", "providers", i, "template"), released[name]))
}

// bringsOf returns the Cluster API providers that a provider with a template installs.
func (w *managementCluster) bringsOf(name, template string) (brings []string, known bool) {
	of := w.All[reconcile.Identity{Group: group, Kind: providerTemplate, Name: template}]
	brings, known = providersOf(of, template, kcm.Brings)
	if !known && of == nil {
		return kcm.Brings(name)
	}
	return brings, known
}

// enabledBy returns the providers that a Management or Region enables. nil means the Management that kcm creates, with
// all providers of its Release.
func (w *managementCluster) enabledBy(o *reconcile.Object) *enabledProviders {
	e := &enabledProviders{names: map[string]bool{}, open: w.Partial}
	released := w.released()
	if o == nil {
		if len(released) == 0 {
			e.open = cmp.Or(e.open, "the providers of the Release that kcm creates are unknown")
		}
		for _, name := range slices.Sorted(maps.Keys(released)) {
			brings, known := w.bringsOf(name, released[name])
			if !known {
				e.open = cmp.Or(e.open, "the contents of provider "+name+" are unknown")
			}
			for _, one := range brings {
				e.names[one] = true
			}
		}
		return e
	}
	for i := range o.List("spec", "providers") {
		brings, known := w.brings(o, i, released)
		if !known && e.open == "" {
			e.open = fmt.Sprintf("the contents of provider %s of %s are unknown", o.Text("spec", "providers", i, "name"), o)
		}
		for _, one := range brings {
			e.names[one] = true
		}
	}
	return e
}

// notEnabled reports a cluster whose template needs a provider that the Management or the Region of its credential does
// not enable.
func (w *managementCluster) notEnabled(p *rule.Pass, o *reconcile.Object, known map[*reconcile.Object]*enabledProviders) {
	needs, ok := w.needs(o)
	credential := w.credentialOf(o)
	w.steps += len(needs)
	if w.exceedsLimit(o, "needs only enabled providers", "spec", "template") || !ok || credential == nil {
		return // reported by another rule
	}
	in, called := w.regional(credential), "the Management that kcm creates"
	switch creates, _ := w.on(createManagement); {
	case in != nil:
		called = in.String()
	case credential.Text("spec", "region") != "" || !creates:
		return // reported by another rule, or the creator of the Management is unknown
	}
	if known[in] == nil {
		known[in] = w.enabledBy(in)
	}
	var missing []string
	for _, need := range needs {
		if !known[in].names[need] && !kcm.BuiltIn(need) && !platform.Unknown(need) {
			missing = append(missing, need)
		}
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	if len(missing) == 0 {
		return
	}
	question := fmt.Sprintf("%s needs %s", o, listed(missing))
	open := known[in].open
	if open == "" && !w.namesHold(missing) {
		open = "before k0rdent 1.11, providers may have other names"
	}
	if open != "" {
		p.UnresolvedFor(o.Position("spec", "template"), fmt.Sprintf("whether %s provides what %s", called, question), open)
		return
	}
	f := finding.Finding{Message: fmt.Sprintf("%s, which %s does not enable: kcm refuses it", question, called)}
	if charts := kcm.Bringing(missing); len(charts) > 0 {
		f.Hint = "enable " + strings.Join(charts, " and ") + " there"
	}
	p.ReportBuilt(o, f, "spec", "template")
}

// namesHold reports whether the missing providers have the same names in the installed release: the names of cloud
// providers have never changed.
func (w *managementCluster) namesHold(missing []string) bool {
	if v := w.version(); v != nil && !v.LessThan(semver.MustParse("1.11.0-0")) {
		return true
	}
	return slices.ContainsFunc(missing, kcm.Cloud)
}
