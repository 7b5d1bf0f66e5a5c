package k0rdent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

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
	Why: `The Management, or a Region, enables providers by name. kcm takes the template of each from the Release unless it has one
of its own: a name that the Release doesn't have is never installed. kcm's webhook refuses a cluster whose template needs a
provider that isn't installed where its credential belongs: in the Region that this names, or by the Management. In turn it
refuses a Management or Region that gives up a provider which a cluster still needs.

What a template needs it says in spec.providers, or its chart does: of kcm's own charts that is known, also where kcm makes
the templates. Where a provider is enabled of which it isn't known what it brings, the question is unresolved. Where Git
holds no Management, kcm makes one with all providers of the Release.`,
	Fix: `Enable the provider in the Management, or in the Region, and have it in the Release; or take the clusters that need it
out first.`,
	Run: func(p *rule.Pass) {
		for _, w := range worlds(p) {
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

// releaseOf is the Release of the Management, nil where Git doesn't hold it.
func (w *world) releaseOf() *reconcile.Object {
	for _, m := range w.Of(management) {
		if r := w.All[reconcile.Identity{Group: group, Kind: release, Name: m.Text("spec", "release")}]; r != nil {
			return r
		}
	}
	return nil
}

// notInRelease reports the providers of a Management or Region that have no template.
func (w *world) notInRelease(p *rule.Pass, o *reconcile.Object) {
	r := w.releaseOf()
	if r == nil {
		return // told by another rule
	}
	var names []string
	for i := range r.List("spec", "providers") {
		names = append(names, r.Text("spec", "providers", i, "name"))
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

// enabledProviders are those that a Management or Region brings, as clusters need them; open is
// why there may be more.
type enabledProviders struct {
	names map[string]bool
	open  string
}

// released are the templates of the providers in the Release, by provider.
func (w *world) released() map[string]string {
	out := map[string]string{}
	if r := w.releaseOf(); r != nil {
		for i := range r.List("spec", "providers") {
			out[r.Text("spec", "providers", i, "name")] = r.Text("spec", "providers", i, "template")
		}
	}
	return out
}

// brings are what one of the providers of a Management or Region brings, as clusters need it; known
// says that it is known.
func (w *world) brings(o *reconcile.Object, i int, released map[string]string) (brings []string, known bool) {
	name := o.Text("spec", "providers", i, "name")
	template := cmp.Or(o.Text("spec", "providers", i, "template"), released[name])
	of := w.All[reconcile.Identity{Group: group, Kind: providerTemplate, Name: template}]
	brings, known = providersOf(of, template, kcm.Brings)
	if !known && of == nil {
		return kcm.Brings(name)
	}
	return brings, known
}

// enabledBy are the providers of a Management or Region.
func (w *world) enabledBy(o *reconcile.Object) *enabledProviders {
	e := &enabledProviders{names: map[string]bool{}, open: w.Partial}
	released := w.released()
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

// notEnabled reports a cluster whose template needs a provider that isn't enabled where its
// credential belongs.
func (w *world) notEnabled(p *rule.Pass, o *reconcile.Object, known map[*reconcile.Object]*enabledProviders) {
	needs, ok := w.needs(o)
	credential := w.credentialOf(o)
	w.steps += len(needs)
	if w.spent(o, "needs only enabled providers", "spec", "template") || !ok || credential == nil {
		return // told by another rule
	}
	in := w.regional(credential)
	if in == nil {
		return // told by another rule, or kcm makes the Management
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
		file, line, _ := o.Position("spec", "template")
		p.UnresolvedFor(file, line, fmt.Sprintf("whether %s provides what %s", in, question), open)
		return
	}
	f := finding.Finding{Message: fmt.Sprintf("%s, which %s does not enable: kcm refuses it", question, in)}
	if charts := kcm.Bringing(missing); len(charts) > 0 {
		f.Hint = "enable " + strings.Join(charts, " and ") + " there"
	}
	p.ReportBuilt(o, f, "spec", "template")
}

// namesHold says whether the names of some providers are those of the release in Git: those of the
// clouds have never changed.
func (w *world) namesHold(missing []string) bool {
	if v := w.version(); v != nil && !v.LessThan(semver.MustParse("1.11.0-0")) {
		return true
	}
	return slices.ContainsFunc(missing, kcm.Cloud)
}
