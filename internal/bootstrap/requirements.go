package bootstrap

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/wellknown"
)

// requirements reports releases that need another release of the file first (for definitions, the network or DNS) and don't
// list it in their needs, and hooks that run too early. Charts that are not available locally are recognised by their names.
// The needs of the sound releases are all known.
func (o *ordering) requirements(releases, sound []*helmfile.Release) {
	unknown := func(r *helmfile.Release) bool {
		return !r.Installed() || slices.ContainsFunc(r.Needs, func(t located.Text) bool { return t.Unknown != nil })
	}
	installed := slices.DeleteFunc(slices.Clone(releases), unknown)
	sound = slices.DeleteFunc(slices.Clone(sound), unknown)
	for _, r := range sound {
		o.definitions(r, installed)
		o.workloads(r)
	}
	with := func(of []*helmfile.Release, is func(*helmfile.Release) bool) []*helmfile.Release {
		return slices.DeleteFunc(slices.Clone(of), func(r *helmfile.Release) bool { return !is(r) })
	}
	networks := with(installed, func(r *helmfile.Release) bool { return wellknown.IsNetwork(chartOf(r)) })
	o.lacking(with(sound, o.hasPods), networks, func(*helmfile.Release) string { return "whose network its pods need" })
	o.lacking(with(sound, func(r *helmfile.Release) bool { return wellknown.Resolves(chartOf(r)) != "" }),
		with(installed, func(r *helmfile.Release) bool { return wellknown.IsDNS(chartOf(r), r.Namespace.Value) }),
		func(r *helmfile.Release) string {
			return "whose DNS its pods need to reach " + wellknown.Resolves(chartOf(r))
		})
}

func chartOf(r *helmfile.Release) string { return helmrelease.ChartName(r.Chart.Value) }

// lacking reports the releases that wait for no provider of what they need. A release that waits for one that is reported is
// not reported itself.
func (o *ordering) lacking(releases, providers []*helmfile.Release, which func(*helmfile.Release) string) {
	provides := o.set(providers)
	lacks := slices.DeleteFunc(slices.Clone(releases), func(r *helmfile.Release) bool {
		return o.in(r, provides) || o.leadsToOne(r, provides)
	})
	lacking := o.set(lacks)
	for _, r := range lacks {
		if len(providers) > 0 && !o.leadsToOne(r, lacking) {
			o.before(r, providers[0], r.Place, which(r))
		}
	}
}

// before reports that a release may be installed before its provider.
func (o *ordering) before(r, provider *helmfile.Release, at finding.Place, which string) {
	pair := [2]*helmfile.Release{r, provider}
	if o.reported[pair] {
		return
	}
	o.reported[pair] = true
	if o.leads(provider, r) {
		o.add(r, at, false, fmt.Sprintf("helmfile installs release %q before %q, %s", r.ID(), provider.ID(), which),
			fmt.Sprintf("remove the needs that lead from %q to it, and add %q to its own", provider.ID(), provider.ID()))
		return
	}
	o.add(r, at, false, fmt.Sprintf("helmfile may install release %q before %q, %s", r.ID(), provider.ID(), which),
		fmt.Sprintf("add %q to its needs", provider.ID()))
}

// requirement is a CustomResourceDefinition that a release needs.
type requirement struct {
	finding.Place
	group string
	// which names the kind that it defines, and says why the release needs it.
	which string
	// hook that needs it, nil if the chart does.
	hook *helmfile.Hook
}

// definitions reports the definitions that a release needs before another release of the file, or the release itself, installs
// them. Definitions that may come from elsewhere are not reported.
func (o *ordering) definitions(r *helmfile.Release, installed []*helmfile.Release) {
	own := o.defines(r)
	type use struct {
		group string
		hook  *helmfile.Hook
	}
	reported := map[use]bool{}
	for _, q := range o.required(r) {
		if reported[use{q.group, q.hook}] {
			continue
		}
		reported[use{q.group, q.hook}] = true
		if slices.Contains(own, q.group) {
			if q.hook != nil && q.hook.Before && !o.elsewhere(r, q.group, chartOf(r)) {
				o.add(r, q.Place, false, fmt.Sprintf("a %s hook of release %q needs the definition of %s, which the release itself brings: it fails on a new cluster",
					q.hook.Event, r.ID(), q.which), "change it to a postsync hook")
			}
			continue
		}
		providers := slices.DeleteFunc(slices.Clone(installed), func(p *helmfile.Release) bool { return !slices.Contains(o.defines(p), q.group) })
		if len(providers) == 0 || slices.ContainsFunc(providers, func(p *helmfile.Release) bool { return o.leads(r, p) }) ||
			o.elsewhere(r, q.group, chartOf(providers[0])) {
			continue
		}
		o.before(r, providers[0], q.Place, "which brings the definition of "+q.which)
	}
}

// defines returns the API groups whose definitions exist once a release is installed.
func (s *orders) defines(r *helmfile.Release) []string {
	groups := slices.Clone(wellknown.Creates(chartOf(r)))
	if rendered := s.rendered(r); rendered != nil {
		for _, object := range rendered.All() {
			if object.Kind == "CustomResourceDefinition" {
				groups = append(groups, helmrelease.TextOf(object.Value, "spec", "group"))
			}
		}
		return groups
	}
	return append(groups, wellknown.Defines(chartOf(r), valuesOf(r))...)
}

// valuesOf returns the known value at a path of a release's values, nil if there is none.
func valuesOf(r *helmfile.Release) func(path ...string) any {
	return func(path ...string) any {
		if v := r.Values.Value.At(path...); v != nil && v.Unknown == nil {
			return v.Scalar
		}
		return nil
	}
}

// mostInstalled is the maximum number of bootstrap releases that are rendered.
const mostInstalled = 300

// rendered returns the objects that the release's chart renders: with the bootstrap's chart and values if the chart was fetched
// and the values are known, otherwise with its HelmRelease's; nil if neither chart is available locally.
func (s *orders) rendered(r *helmfile.Release) *reconcile.Release {
	own, done := s.own[r]
	if !done && len(s.own) < mostInstalled {
		own = s.installed(r)
		s.own[r] = own
	}
	if own != nil {
		return own
	}
	h := s.takenOverBy[r]
	if h == nil || h.Orphan || h.Applied.Kustomization == nil {
		return nil
	}
	return h.Applied.Kustomization.Cluster.Release(h.Applied)
}

// installed returns the objects that the bootstrap installs with the chart that the lock names, nil if they are not known.
func (s *orders) installed(r *helmfile.Release) *reconcile.Release {
	ask, err := r.Request()
	values, known := r.KnownValues()
	if ask == nil || err != nil || !known || len(r.Variants) > 0 || r.Name.Unknown != nil || r.Namespace.Unknown != nil {
		return nil
	}
	return s.Fleet.Install(s.Context(), reconcile.Installation{Ask: *ask, Name: r.Name.Value, Namespace: r.Namespace.Value, Values: values, File: r.File, Line: r.Line})
}

// required returns the definitions that the hooks and the chart of a release need.
func (o *ordering) required(r *helmfile.Release) []requirement {
	var all []requirement
	for i, h := range r.Hooks {
		if h.Shared {
			continue // it runs before all releases or after them
		}
		for _, t := range h.Definitions {
			_, group, _ := strings.Cut(t.Value, ".")
			all = append(all, requirement{t.Place, group, t.Value + ", for which a hook waits", &r.Hooks[i]})
		}
		for _, t := range h.Applied {
			for _, object := range objectsAt(o.Repo, t.Value) {
				all = append(all, requirement{t.Place, object.Group(), object.Kind + ", of which a hook applies an object", &r.Hooks[i]})
			}
		}
	}
	if rendered := o.rendered(r); rendered != nil {
		for _, object := range rendered.Objects {
			all = append(all, requirement{r.Place, object.Group, object.Kind + ", of which its chart contains an object", nil})
		}
	} else if q, ok := wellknown.Requires(chartOf(r), valuesOf(r)); ok {
		all = append(all, requirement{r.Place, q.Group, q.Kind + ", of which its chart contains an object", nil})
	}
	return all
}

// elsewhere reports whether the definitions of a group may come from elsewhere than the releases of this file: from another
// file's releases, a stage that installs only definitions, a definition in the repository, or a script that mentions them.
func (o *ordering) elsewhere(r *helmfile.Release, group, chart string) bool {
	for _, releases := range o.files {
		for _, other := range releases {
			if (other.CRDsOnly || other.File != r.File) && slices.Contains(o.defines(other), group) {
				return true
			}
		}
	}
	for _, d := range o.Repo.ByKind("apiextensions.k8s.io", "CustomResourceDefinition") {
		if of, _ := d.Text("spec", "group"); of == group {
			return true
		}
	}
	if data, err := o.Repo.ReadFile(r.File); err != nil || downloads.Match(data) {
		return true
	}
	return o.mentionedBeside(group, chart)
}

// downloads matches hooks that apply manifests from the network or install charts.
var downloads = regexp.MustCompile(`https?://\S+\.ya?ml|github\.com/\S+\?ref=|\bhelm\W+(install|upgrade|template|pull)\b`)

// mentionedBeside reports whether a file that is neither a manifest nor part of a bootstrap mentions one of the names, such
// as a script or the configuration of the nodes: it may install the thing named.
func (s *orders) mentionedBeside(names ...string) bool {
	wanted, found := map[string]bool{}, map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	own := map[string]bool{}
	for _, releases := range s.files {
		for _, r := range releases {
			own[r.File] = true
			for file := range r.Reads {
				own[file] = true
			}
		}
	}
	otherfiles.Read(s.Repo, wanted, false, func(file, text string) {
		if !own[file] {
			otherfiles.Words(text, wanted, found)
		}
	})
	return len(found) > 0
}

// workloads reports hooks that wait for workloads of their own release before it is installed.
func (o *ordering) workloads(r *helmfile.Release) {
	for _, h := range r.Hooks {
		for _, t := range h.Workloads {
			kind, name, _ := strings.Cut(t.Value, "/")
			if !h.Before {
				continue
			}
			rendered := o.rendered(r)
			switch {
			case rendered == nil && name != r.ID(),
				rendered != nil && !slices.ContainsFunc(rendered.Objects, func(object *reconcile.Object) bool {
					return object.Kind == kind && object.Namespace+"/"+object.Name == name
				}):
				continue
			}
			o.add(r, t.Place, rendered != nil, fmt.Sprintf("a %s hook of release %q waits for %s %s, which the release itself creates: it fails on a new cluster",
				h.Event, r.ID(), kind, name), "change it to a postsync hook")
		}
	}
}

// hasPods reports whether a release certainly has pods in the cluster's network.
func (o *ordering) hasPods(r *helmfile.Release) bool {
	rendered := o.rendered(r)
	if rendered == nil {
		host := r.Values.Value.At("hostNetwork")
		return wellknown.HasPods(chartOf(r)) && (host == nil || host.Scalar == false)
	}
	return slices.ContainsFunc(rendered.Objects, func(object *reconcile.Object) bool {
		template := []string{"spec", "template", "spec"}
		switch object.Kind {
		case "Deployment", "StatefulSet", "DaemonSet", "Job":
		default:
			return false
		}
		return helmrelease.FieldOf(object.Value, template...) != nil && helmrelease.FieldOf(object.Value, append(template, "hostNetwork")...) != true
	})
}
