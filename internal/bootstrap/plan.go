package bootstrap

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Step is a release of a bootstrap, in the order of installation.
type Step struct {
	File      string   `json:"file"`
	Line      int      `json:"line"`
	Cluster   string   `json:"cluster"`
	Release   string   `json:"release"`
	Namespace string   `json:"namespace"`
	Chart     string   `json:"chart"`
	Version   string   `json:"version"`
	Needs     []string `json:"needs"`
	// CRDsOnly says that only the chart's custom resource definitions are
	// installed.
	CRDsOnly bool `json:"crdsOnly"`
	// HelmRelease is FILE:LINE of the one that takes the release over, "" without one.
	HelmRelease string `json:"helmRelease"`
	// TakeOver is what helm-controller will do when it finds the release; Reason says why.
	TakeOver TakeOver `json:"takeOver"`
	Reason   string   `json:"reason"`
}

// TakeOver is what helm-controller does when it finds a bootstrapped release.
type TakeOver string

// The ways of taking over.
const (
	// Adopt: one upgrade that changes nothing.
	Adopt TakeOver = "adopt"
	// Upgrade: an upgrade to another chart, version or other values.
	Upgrade TakeOver = "upgrade"
	// SecondRelease: a release of another name or namespace is installed beside it.
	SecondRelease TakeOver = "second release"
	// Install: the bootstrap installs definitions only, and the release comes from Flux.
	Install TakeOver = "install"
	// NotTaken: no HelmRelease takes it over, or no cluster applies the one that would.
	NotTaken TakeOver = "none"
	// Undecided: it cannot be told offline.
	Undecided TakeOver = "unknown"
)

// takeOver predicts what Flux does about a release, and says why.
func (r ReleaseReport) takeOver(crdsOnly bool) (TakeOver, string) {
	var fields []string
	second := false
	for _, d := range r.Differences {
		fields = append(fields, d.Field)
		second = second || d.Rule == RuleIdentityDrift
	}
	differ := strings.Join(fields, ", ") + " " + map[bool]string{true: "differs", false: "differ"}[len(fields) == 1]
	if len(fields) > mostFields {
		differ = fmt.Sprintf("%s and %d more differ", strings.Join(fields[:mostFields], ", "), len(fields)-mostFields)
	}
	switch {
	case r.HelmRelease == "" && r.Verdict == Unresolved && !strings.HasPrefix(r.Reason, "no HelmRelease"):
		return Undecided, r.Reason
	case r.HelmRelease == "":
		return NotTaken, r.Reason
	case r.unapplied:
		return NotTaken, "no cluster applies the HelmRelease " + r.HelmRelease
	case crdsOnly:
		return Install, "the bootstrap installs its definitions only"
	case second:
		return SecondRelease, differ
	case len(fields) > 0:
		return Upgrade, differ
	case r.Verdict == Unresolved:
		return Undecided, r.Reason
	}
	return Adopt, ""
}

// mostFields is how many fields a reason names.
const mostFields = 3

// ReleaseValues are the effective values of one release.
type ReleaseValues struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Cluster string `json:"cluster"`
	// Values as Helm gets them. Keys that depend on what is unknown are left
	// out or null.
	Values map[string]any `json:"values"`
	// Unresolved says why values are missing; empty when they are complete.
	Unresolved []string `json:"unresolved"`
}

// Plan lists the releases of all bootstrap files: file by file in the order of
// their paths, each release after those of its file that it needs, otherwise in
// the order of the file, with what Flux will do when it takes it over. It fails on needs that
// form a circle. The fleet is what Flux would apply; nil computes what is needed of it.
func Plan(ctx context.Context, repo *repository.Repository, fleet *reconcile.Fleet) ([]Step, error) {
	files, err := readAll(ctx, repo)
	if err != nil {
		return nil, err
	}
	ordered := make([][]*release, len(files))
	for i, file := range files {
		if err := readable(file.releases); err != nil {
			return nil, err
		}
		if ordered[i], err = inOrder(file.releases); err != nil {
			return nil, err
		}
	}
	g, err := gitOf(ctx, repo, files, fleet)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for i, file := range files {
		for _, r := range ordered[i] {
			steps = append(steps, g.step(file.engine, r))
		}
	}
	return steps, nil
}

// step is one release of the plan.
func (g *git) step(e *engine, r *release) Step {
	s := Step{File: r.file, Line: r.line, Cluster: r.cluster, Release: shown(r.name), Namespace: shown(r.namespace),
		Chart: shown(r.chart), Version: shown(r.version), Needs: []string{}, CRDsOnly: r.crdsOnly}
	for _, need := range r.needs {
		s.Needs = append(s.Needs, shown(need))
	}
	judged := g.judge(e, r)
	s.HelmRelease = judged.HelmRelease
	s.TakeOver, s.Reason = judged.takeOver(r.crdsOnly)
	return s
}

// Values returns the effective values of the releases that NAMESPACE/NAME names:
// one for each bootstrap file that declares it. It fails when there is none.
func Values(ctx context.Context, repo *repository.Repository, reference string) ([]ReleaseValues, error) {
	namespace, name, ok := strings.Cut(reference, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return nil, fmt.Errorf("%q is no release: give NAMESPACE/NAME", reference)
	}
	var found []ReleaseValues
	var all []string
	err := each(ctx, repo, func(_ *engine, releases []*release) error {
		if err := readable(releases); err != nil {
			return err
		}
		for _, r := range releases {
			all = append(all, fmt.Sprintf("%q", shown(r.namespace)+"/"+shown(r.name)))
			if shown(r.name) == name && shown(r.namespace) == namespace {
				found = append(found, r.effective())
			}
		}
		return nil
	})
	if err == nil && len(found) == 0 {
		slices.Sort(all)
		err = fmt.Errorf("no bootstrap file has the release %q; there are %s", reference, strings.Join(slices.Compact(all), ", "))
	}
	return found, err
}

func (r *release) effective() ReleaseValues {
	out := ReleaseValues{File: r.file, Line: r.line, Cluster: r.cluster, Unresolved: []string{}}
	clean := r.values.value.mapScalars(func(v *value) *value {
		if text, ok := v.scalar.(string); ok && strings.Contains(text, markOpen) {
			return &value{place: v.place}
		}
		return v
	})
	out.Values, _ = clean.plain().(map[string]any)
	for _, m := range r.values.unknown {
		out.Unresolved = append(out.Unresolved, m.reason)
	}
	for _, m := range r.partial {
		out.Unresolved = append(out.Unresolved, m.reason)
	}
	return out
}

// UnreadableError is about a bootstrap file of which nothing can be told.
type UnreadableError struct {
	File   string
	Line   int
	Reason string
}

func (e *UnreadableError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// readable fails on a file of which nothing can be told.
func readable(releases []*release) error {
	for _, r := range releases {
		if r.unreadable != "" {
			return &UnreadableError{File: r.file, Line: r.line, Reason: r.unreadable}
		}
	}
	return nil
}

// each calls f with the releases of each bootstrap file.
func each(ctx context.Context, repo *repository.Repository, f func(e *engine, releases []*release) error) error {
	files := findHelmfiles(repo)
	r := &reader{engine: newEngine(ctx, repo), repo: repo}
	byFile, err := r.all(files)
	if err != nil {
		return err
	}
	if len(files)+len(byFile) == 0 {
		return ErrNoBootstrap
	}
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		if err := f(r.engine, byFile[file]); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// inOrder sorts releases by their needs, keeping the order of the file
// otherwise. A need is NAMESPACE/NAME, or NAME in the release's own namespace.
func inOrder(releases []*release) ([]*release, error) {
	const open, done = 1, 2
	byID := map[string]*release{}
	for _, r := range releases {
		byID[r.id()] = r
	}
	state := map[*release]int{}
	var ordered []*release
	var visit func(*release) error
	visit = func(r *release) error {
		switch state[r] {
		case open:
			return fmt.Errorf("%s:%d: the release %q needs itself, through the needs of others", r.file, r.line, r.id())
		case done:
			return nil
		}
		state[r] = open
		for _, need := range r.needs {
			if needed := byID[needID(r, need.value)]; needed != nil {
				if err := visit(needed); err != nil {
					return err
				}
			}
		}
		state[r] = done
		ordered = append(ordered, r)
		return nil
	}
	for _, r := range releases {
		if err := visit(r); err != nil {
			return nil, err
		}
	}
	return ordered, nil
}

func (r *release) id() string { return r.namespace.value + "/" + r.name.value }
