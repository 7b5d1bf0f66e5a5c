package bootstrap

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// Verdict on a release of a bootstrap. Of several that apply, the first in the
// order Drift, Missing, Unresolved, Intended, Cosmetic, Agrees is given.
type Verdict string

// The verdicts.
const (
	// Agrees: the bootstrap installs what the HelmRelease declares.
	Agrees Verdict = "agrees"
	// Drift: chart, version, values or identity differ.
	Drift Verdict = "drift"
	// Missing: there is no HelmRelease, and the release reads a file that does not exist.
	Missing Verdict = "missing"
	// Unresolved: it cannot be decided offline; the reason says why.
	Unresolved Verdict = "unresolved"
	// Intended: the difference is ignored on purpose, with a reason in Git.
	Intended Verdict = "intended"
	// Cosmetic: values differ, and both sides install the same objects. Only VerifyRendered gives it.
	Cosmetic Verdict = "cosmetic"
)

// Report says for each release of each bootstrap file whether it installs what its HelmRelease
// declares. Its JSON form is stable; lists are never null.
type Report struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Releases   []ReleaseReport `json:"releases"`
	// Refusals are the first reason of each helmfile for which helmfile itself
	// stops. Its releases are judged all the same.
	Refusals []Refusal `json:"refusals"`
	// Order lists problems with the order of the releases and with what their hooks apply; they do not affect the verdicts.
	Order []OrderProblem `json:"order"`
	// Flux says of each way in which the repository installs Flux whether Git says the same; it
	// is counted apart from the releases.
	Flux []FluxReport `json:"flux"`
	// Stale are declarations of differences that do not exist.
	Stale   []Declaration `json:"stale"`
	Summary Summary       `json:"summary"`
}

// NewReport is a report on nothing.
func NewReport() *Report {
	return &Report{APIVersion: "fleetwright.dev/v1alpha1", Kind: "BootstrapReport", Releases: []ReleaseReport{},
		Refusals: []Refusal{}, Order: []OrderProblem{}, Flux: []FluxReport{}, Stale: []Declaration{}}
}

// Open says whether something is unresolved.
func (r *Report) Open() bool {
	return r.Summary.Unresolved > 0 || slices.ContainsFunc(r.Flux, func(f FluxReport) bool { return f.Verdict == Unresolved }) ||
		slices.ContainsFunc(r.Refusals, func(r Refusal) bool { return !r.Certain && !r.Told }) ||
		slices.ContainsFunc(r.Order, func(o OrderProblem) bool { return o.Unresolved && !o.Ignored })
}

// Refusal is a reason for which helmfile stops, and where.
type Refusal struct {
	// Helmfile that it would run.
	Helmfile string `json:"helmfile"`
	// File and line that it stops at.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
	// Certain says that helmfile fails whatever the unknown values are, and Told that the verdicts on
	// releases already report the reason, a missing file.
	Certain bool `json:"-"`
	Told    bool `json:"-"`
	// Absent says that the reason is a file that isn't there.
	Absent bool `json:"-"`
	// Ignored says that a comment or the configuration ignores it.
	Ignored bool `json:"-"`
}

// Stops says whether a helmfile cannot be installed for a reason that no verdict on a release reports
// and that no annotation excuses.
func (r Refusal) Stops() bool { return r.Certain && !r.Told && !r.Ignored }

// ReleaseReport is the verdict on one release.
type ReleaseReport struct {
	// File that declares the release, and the line of its name.
	File    string `json:"file"`
	Line    int    `json:"line"`
	Cluster string `json:"cluster"`
	Release string `json:"release"`
	// Namespace and Version as the bootstrap has them, "" where unknown.
	Namespace string  `json:"namespace"`
	Chart     string  `json:"chart"`
	Version   string  `json:"version"`
	Verdict   Verdict `json:"verdict"`
	// HelmRelease is FILE:LINE of the one that takes the release over, ""
	// without one.
	HelmRelease string       `json:"helmRelease"`
	Differences []Difference `json:"differences"`
	// Reason of the verdicts missing and unresolved, and of a release that the
	// bootstrap doesn't install.
	Reason string `json:"reason"`
	// Rendered compares the objects, where VerifyRendered was asked; nil where the release is another one than Flux's.
	Rendered *Rendered `json:"rendered,omitempty"`

	// definition is what declares the release: a helmfile, a kustomization, …
	definition string

	// Object names the HelmRelease.
	Object Object `json:"-"`
	// Unreadable says that the file cannot be evaluated, and that this is its only entry.
	Unreadable bool `json:"-"`
	// Stops says of such a file that helmfile certainly stops there.
	Stops bool `json:"-"`

	// Gone says that there is no HelmRelease and a file is missing, whether intended or not.
	Gone bool `json:"-"`

	// unapplied says that no cluster of the repository applies the HelmRelease.
	unapplied bool

	helmRelease *helmrelease.Release
	declared    []*intended
}

// Object is the namespace and name of a HelmRelease, with its API version.
type Object struct{ APIVersion, Namespace, Name string }

// Difference is one field that differs.
type Difference struct {
	// Rule that the difference falls under.
	Rule string `json:"rule"`
	// Field is release, namespace, storageNamespace, chart, version, values, or
	// a path such as values.operator.replicas.
	Field     string `json:"field"`
	Bootstrap Side   `json:"bootstrap"`
	Git       Side   `json:"git"`
	// Cause is the likely cause, in words; "" if it is unknown.
	Cause string `json:"cause"`
	// Ignored says that the difference is intended: by the annotation [IntendedAnnotation] or
	// fleetwright.dev/ignore of the HelmRelease, or by a comment on the line. Reason is the one given
	// there.
	Ignored bool   `json:"ignored"`
	Reason  string `json:"reason"`
	// Cosmetic says that the difference changes no object that is installed; it is ignored, too.
	Cosmetic bool `json:"cosmetic,omitempty"`

	missing string // the file that the bootstrap reads and that doesn't exist
}

// Absent says in words which file of the bootstrap is missing, "" if none is; nothing else is known of
// the bootstrap's side then.
func (d Difference) Absent() string {
	switch {
	case d.missing == "":
		return ""
	case d.Rule == RuleValuesDrift:
		return "the values file " + d.missing + " " + templates.Absence(d.missing)
	}
	return "the file " + d.missing + ", which the template reads, " + templates.Absence(d.missing)
}

// Side is the value of a field on one side: a JSON value, null if the side has none. Values that look
// like secrets are hidden.
type Side struct {
	Value any    `json:"value"`
	File  string `json:"file"`
	Line  int    `json:"line"`
	// Locked is the version that the lock names for a range, "" where it names none.
	Locked string `json:"locked,omitempty"`

	scalar bool // a Helm value, whose type counts
}

// Summary counts the releases by verdict.
type Summary struct {
	Files      int `json:"files"`
	Releases   int `json:"releases"`
	Agrees     int `json:"agrees"`
	Drift      int `json:"drift"`
	Missing    int `json:"missing"`
	Unresolved int `json:"unresolved"`
	Intended   int `json:"intended"`
	Cosmetic   int `json:"cosmetic,omitempty"`
}

func (s *Summary) count(v Verdict) {
	s.Releases++
	switch v {
	case Agrees:
		s.Agrees++
	case Drift:
		s.Drift++
	case Missing:
		s.Missing++
	case Unresolved:
		s.Unresolved++
	case Intended:
		s.Intended++
	case Cosmetic:
		s.Cosmetic++
	}
}
