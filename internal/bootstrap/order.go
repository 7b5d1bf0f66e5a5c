package bootstrap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// OrderProblem is a problem with the order in which the releases of a bootstrap file are installed, or with the objects
// that their hooks apply.
type OrderProblem struct {
	// Rule of the finding.
	Rule    string `json:"rule"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Cluster string `json:"cluster"`
	Release string `json:"release"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	// Refused says that helmfile fails; otherwise it may install the releases in parallel, which may work.
	Refused bool `json:"refused"`
	// Unresolved says that the problem cannot be decided offline.
	Unresolved bool `json:"unresolved"`
	// Ignored says that a comment or the configuration ignores it.
	Ignored bool `json:"ignored"`
}

// orders checks the order of the releases of all bootstrap files, and the objects that their hooks apply.
type orders struct {
	*judge
	files [][]*helmfile.Release
	// takenOverBy maps the releases to the HelmReleases that take them over.
	takenOverBy map[*helmfile.Release]*helmrelease.Release
	// own caches the objects that the releases' fetched charts render, nil if they are not known.
	own map[*helmfile.Release]*reconcile.Release
	// git holds the objects that Flux applies, computed at first use.
	git *gitObjects
}

// check checks the needs and hooks of the releases of a file, and that the needs follow the dependsOn of their
// HelmReleases.
func (s *orders) check(releases []*helmfile.Release) []OrderProblem {
	o := ordering{orders: s, byID: map[string]*helmfile.Release{}, moved: map[string]bool{}, objects: map[[2]string][]*helmfile.Release{},
		wrong: map[*helmfile.Release]bool{}, reported: map[[2]*helmfile.Release]bool{}}
	for _, r := range releases {
		if r.Name.Unknown == nil && r.Namespace.Unknown == nil && r.Unreadable == "" {
			o.byID[r.ID()] = r
		}
	}
	for _, r := range releases {
		if h := s.takenOverBy[r]; h != nil && o.byID[r.ID()] == r {
			o.moved[h.Namespace+"/"+h.Name] = true
			id := [2]string{h.MetadataNamespace(), h.Applied.Name}
			o.objects[id] = append(o.objects[id], r)
		}
	}
	o.reach = newReach(releases, o.needed)
	for _, r := range releases {
		o.needs(r)
	}
	wrong := o.set(slices.Collect(maps.Keys(o.wrong)))
	// misled reports whether it is unknown what a release needs, because its needs, or those of another release that it needs, are wrong.
	misled := func(r *helmfile.Release) bool { return o.wrong[r] || o.leadsToOne(r, wrong) }
	sound := slices.DeleteFunc(slices.Clone(releases), misled)
	for _, r := range sound {
		o.dependsOn(r)
	}
	o.contradictions(sound)
	o.requirements(releases, sound)
	o.hooks(releases)
	sorting.StableFunc(o.problems, func(a, b OrderProblem) int { return cmp.Compare(a.Line, b.Line) })
	return o.problems
}

// ordering checks one file.
type ordering struct {
	*orders
	byID map[string]*helmfile.Release
	// reach says which releases need which.
	reach[*helmfile.Release]
	// moved holds the ids that the releases have in Git, and objects the releases by the namespace and name of their HelmRelease.
	moved    map[string]bool
	objects  map[[2]string][]*helmfile.Release
	problems []OrderProblem
	// wrong holds the releases with a need that leads nowhere or back to them, or that names a release by its id in Git: needs
	// are not followed through them.
	wrong map[*helmfile.Release]bool
	// reported holds the pairs that are reported as installed in the wrong order, the release that needs the other first.
	reported map[[2]*helmfile.Release]bool
}

func (o *ordering) add(r *helmfile.Release, at finding.Place, refused bool, message, hint string) {
	o.problems = append(o.problems, OrderProblem{Rule: RuleOrder, File: at.File, Line: at.Line, Cluster: r.Cluster, Release: r.Name.Known(),
		Message: message, Hint: hint, Refused: refused})
}

// needs reports needs that name no release of the file, or that form a cycle, each once.
func (o *ordering) needs(r *helmfile.Release) {
	seen := map[string]bool{}
	for _, need := range r.Needs {
		id := helmfile.NeedID(r, need.Value)
		if need.Unknown != nil || r.Namespace.Unknown != nil || seen[id] {
			continue
		}
		seen[id] = true
		needed := o.byID[id]
		switch {
		case needed == nil && o.moved[id]: // reported as a difference of the other release's namespace
			o.wrong[r] = true
		case needed == nil:
			o.wrong[r] = true
			o.add(r, need.Place, true, fmt.Sprintf("release %q needs %q, which the file does not define: helmfile fails", r.ID(), need.Value),
				"name a release of the file as NAMESPACE/NAME")
		case needed == r || o.leads(needed, r):
			o.wrong[r] = true
			o.add(r, need.Place, true, fmt.Sprintf("release %q needs %q, and the other way round: helmfile fails", r.ID(), need.Value),
				"remove one of the needs")
		}
	}
}

// needed returns the releases that a release needs itself, each once.
func (o *ordering) needed(r *helmfile.Release) []*helmfile.Release {
	var all []*helmfile.Release
	seen := map[*helmfile.Release]bool{nil: true}
	for _, need := range r.Needs {
		if needed := o.byID[helmfile.NeedID(r, need.Value)]; !seen[needed] {
			seen[needed] = true
			all = append(all, needed)
		}
	}
	return all
}

// dependsOn reports releases that Flux installs after others of the file, and that the bootstrap may install before them.
func (o *ordering) dependsOn(r *helmfile.Release) {
	h := o.takenOverBy[r]
	if h == nil || r.CRDsOnly || slices.ContainsFunc(r.Needs, func(t located.Text) bool { return t.Unknown != nil }) {
		return
	}
	dependencies, _ := h.Field("spec", "dependsOn").([]any)
	for _, dependency := range dependencies {
		name, namespace := helmrelease.TextOf(dependency, "name"), cmp.Or(helmrelease.TextOf(dependency, "namespace"), h.MetadataNamespace())
		for _, other := range o.objects[[2]string{namespace, name}] {
			if other.CRDsOnly || o.leads(r, other) {
				continue
			}
			o.reported[[2]*helmfile.Release{r, other}] = true
			installs, hint := "may install", fmt.Sprintf("add %q to its needs", other.ID())
			if o.leads(other, r) {
				installs, hint = "installs", fmt.Sprintf("remove one of the two: the needs that lead from %q to it, or the HelmRelease's dependsOn", other.ID())
			}
			o.add(r, r.Place, false, fmt.Sprintf("helmfile %s release %q before %q, on which HelmRelease %s/%s depends",
				installs, r.ID(), other.ID(), h.MetadataNamespace(), h.Applied.Name), hint)
		}
	}
}

// hooks reports files that hooks apply and that do not exist, where helmfile fails, and objects that hooks apply and Flux does
// not. A hook that several releases inherit from a template is reported once.
func (o *ordering) hooks(releases []*helmfile.Release) {
	reported := map[located.Text]bool{}
	for _, r := range releases {
		if r.Skipped != nil || r.Unreadable != "" {
			continue
		}
		for _, h := range r.Hooks {
			whose := fmt.Sprintf("a hook of release %q", r.Name.Known())
			if h.Shared {
				whose = "a hook of the helmfile"
			}
			exists := func(does string, t located.Text) bool {
				if reported[t] || strings.HasPrefix(t.Value, "../") {
					return false
				}
				if reported[t] = true; !o.Repo.Lacks(t.Value) {
					return true
				}
				o.add(r, t.Place, true, fmt.Sprintf("%s %s %s, which does not exist", whose, does, t.Value),
					"correct the path: it is relative to the folder of the helmfile")
				return false
			}
			for _, t := range h.Applied {
				if exists("applies", t) {
					o.unmanaged(r, t)
				}
			}
			for _, t := range h.Scripts {
				exists("runs", t)
			}
		}
	}
}
