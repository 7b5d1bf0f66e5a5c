package bootstrap

import (
	"context"
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Step is a release of a bootstrap, in the order of installation.
type Step struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Cluster   string `json:"cluster"`
	Release   string `json:"release"`
	Namespace string `json:"namespace"`
	Chart     string `json:"chart"`
	Version   string `json:"version"`
	// Locked is the version to which the lock pins a range, "" if it pins none.
	Locked string   `json:"locked,omitempty"`
	Needs  []string `json:"needs"`
	// CRDsOnly says that only the chart's CustomResourceDefinitions are installed.
	CRDsOnly bool `json:"crdsOnly"`
	// HelmRelease is FILE:LINE of the HelmRelease that takes the release over, "" if there is none.
	HelmRelease string `json:"helmRelease"`
	// TakeOver is how helm-controller will take the release over, and Reason why.
	TakeOver TakeOver `json:"takeOver"`
	Reason   string   `json:"reason"`
}

// TakeOver is how helm-controller takes over a release that the bootstrap installed.
type TakeOver string

// The ways of taking over.
const (
	// Adopt: one upgrade that changes nothing.
	Adopt TakeOver = "adopt"
	// Upgrade: an upgrade to another chart, version or other values.
	Upgrade TakeOver = "upgrade"
	// SecondRelease: helm-controller installs a second release, with another name or namespace.
	SecondRelease TakeOver = "second release"
	// Install: the bootstrap installs only definitions, and Flux installs the release.
	Install TakeOver = "install"
	// NotTaken: the release has no HelmRelease, or no cluster applies its HelmRelease.
	NotTaken TakeOver = "none"
	// Undecided: it cannot be decided offline.
	Undecided TakeOver = "unknown"
)

// takeOver predicts what Flux does with a release, and returns the reason.
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
		return Install, "the bootstrap installs only its CustomResourceDefinitions"
	case second:
		return SecondRelease, differ
	case len(fields) > 0:
		return Upgrade, differ
	case r.Verdict == Unresolved:
		return Undecided, r.Reason
	}
	return Adopt, ""
}

// mostFields is the maximum number of fields that a reason names.
const mostFields = 3

// Plan lists the releases of all bootstrap files with what Flux will do when it takes each over. The files are sorted by path,
// and the releases are in the order of their file, but after those that they need. It returns an error if needs form a cycle.
func Plan(ctx context.Context, repo *repository.Repository, fetched Fetched) ([]Step, error) {
	files, engine, err := helmfile.ReadAll(ctx, repo)
	if err != nil {
		return nil, err
	}
	ordered := make([][]*helmfile.Release, len(files))
	for i, releases := range files {
		readable, _, err := helmfile.Readable(releases)
		if err != nil {
			return nil, err
		}
		if ordered[i], err = helmfile.InOrder(readable); err != nil {
			return nil, err
		}
	}
	j, err := newJudge(ctx, repo, files, engine, nil, fetched)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, releases := range ordered {
		for _, r := range releases {
			steps = append(steps, j.step(r))
		}
	}
	return steps, nil
}

// step returns the plan's step for a release.
func (j *judge) step(r *helmfile.Release) Step {
	s := Step{File: r.File, Line: r.Line, Cluster: r.Cluster, Release: r.Name.Known(), Namespace: r.Namespace.Known(),
		Chart: r.Chart.Known(), Version: r.Version.Known(), Needs: []string{}, CRDsOnly: r.CRDsOnly}
	for _, need := range r.Needs {
		s.Needs = append(s.Needs, need.Known())
	}
	s.Locked = j.lockedVersion(r)
	judged := j.release(r)
	s.HelmRelease = judged.HelmRelease
	s.TakeOver, s.Reason = judged.takeOver(r.CRDsOnly)
	return s
}
