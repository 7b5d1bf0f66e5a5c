package bootstrap

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// Verdict on a release of a bootstrap. If several apply, it is the first of Drift, Missing, Unresolved, Intended, Cosmetic
// and Agrees.
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
	// Cosmetic: values differ, and both sides install the same objects. Only VerifyRendered returns it.
	Cosmetic Verdict = "cosmetic"
)

// Report says for each release of each bootstrap file whether it installs what its HelmRelease
// declares. Its JSON form is stable; lists are never null.
type Report struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Releases   []ReleaseReport `json:"releases"`
	// Refusals are the first reason for which helmfile fails, for each helmfile that it refuses. The releases of such a file
	// are judged all the same.
	Refusals []Refusal `json:"refusals"`
	// Order lists problems with the order of the releases and with the objects that their hooks apply; they do not affect
	// the verdicts.
	Order []OrderProblem `json:"order"`
	// Flux lists the ways in which the repository installs Flux, each compared with Git. They are counted apart from the
	// releases.
	Flux []FluxReport `json:"flux"`
	// Stale are declarations of differences that do not exist.
	Stale   []Declaration `json:"stale"`
	Summary Summary       `json:"summary"`
}

// NewReport returns an empty report.
func NewReport() *Report {
	return &Report{APIVersion: "fleetwright.dev/v1alpha1", Kind: "BootstrapReport", Releases: []ReleaseReport{},
		Refusals: []Refusal{}, Order: []OrderProblem{}, Flux: []FluxReport{}, Stale: []Declaration{}}
}

// Open reports whether something is unresolved.
func (r *Report) Open() bool {
	return r.Summary.Unresolved > 0 || slices.ContainsFunc(r.Flux, func(f FluxReport) bool { return f.Verdict == Unresolved }) ||
		slices.ContainsFunc(r.Refusals, func(r Refusal) bool { return !r.Certain && !r.Reported }) ||
		slices.ContainsFunc(r.Order, func(o OrderProblem) bool { return o.Unresolved && !o.Ignored })
}

// Refusal is a reason for which helmfile fails, and its position.
type Refusal struct {
	// Helmfile that fails.
	Helmfile string `json:"helmfile"`
	// File and line at which it fails.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
	// Certain says that helmfile fails whatever the unknown values are. Reported says that a verdict on a release already
	// reports the reason, a missing file.
	Certain  bool `json:"-"`
	Reported bool `json:"-"`
	// Absent says that the reason is a missing file.
	Absent bool `json:"-"`
	// Ignored says that a comment or the configuration ignores it.
	Ignored bool `json:"-"`
}

// Stops reports whether the bootstrap certainly fails for a reason that no verdict on a release reports and that no
// annotation excuses.
func (r Refusal) Stops() bool { return r.Certain && !r.Reported && !r.Ignored }

// ReleaseReport is the verdict on one release.
type ReleaseReport struct {
	// File that declares the release, and the line of its name.
	File    string `json:"file"`
	Line    int    `json:"line"`
	Cluster string `json:"cluster"`
	Release string `json:"release"`
	// Namespace and Version in the bootstrap, "" if unknown.
	Namespace string  `json:"namespace"`
	Chart     string  `json:"chart"`
	Version   string  `json:"version"`
	Verdict   Verdict `json:"verdict"`
	// HelmRelease is FILE:LINE of the HelmRelease that takes the release over, "" if there is none.
	HelmRelease string       `json:"helmRelease"`
	Differences []Difference `json:"differences"`
	// Reason of the verdicts missing and unresolved, and of a release that the bootstrap doesn't install.
	Reason string `json:"reason"`
	// Rendered compares the objects, if VerifyRendered was called; nil if the release is not the one that Flux installs.
	Rendered *Rendered `json:"rendered,omitempty"`

	// definition is the kind of the file that declares the release: helmfile, kustomization, …
	definition string

	// Object names the HelmRelease.
	Object Object `json:"-"`
	// Unreadable says that the file cannot be evaluated, and that this is its only entry.
	Unreadable bool `json:"-"`
	// Stops says that helmfile certainly fails at such a file.
	Stops bool `json:"-"`

	// Gone says that there is no HelmRelease and a file is missing, intended or not.
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
	// Rule of the finding.
	Rule string `json:"rule"`
	// Field is release, namespace, storageNamespace, chart, version, values, or
	// a path such as values.operator.replicas.
	Field     string `json:"field"`
	Bootstrap Side   `json:"bootstrap"`
	Git       Side   `json:"git"`
	// Cause is the likely cause, in words; "" if it is unknown.
	Cause string `json:"cause"`
	// Ignored says that the difference is intended: by the annotation [IntendedAnnotation] or fleetwright.dev/ignore of the
	// HelmRelease, or by a comment on the line. Reason is the reason in the annotation or comment.
	Ignored bool   `json:"ignored"`
	Reason  string `json:"reason"`
	// Cosmetic says that the difference changes no installed object; Ignored is set, too.
	Cosmetic bool `json:"cosmetic,omitempty"`

	missing string // the missing file that the bootstrap reads
}

// Absent returns a phrase that names the missing file of the bootstrap, "" if none is missing. The bootstrap's side is otherwise
// unknown then.
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
	// Locked is the version to which the lock pins a range, "" if it pins none.
	Locked string `json:"locked,omitempty"`

	scalar bool // whether it is a scalar Helm value, whose type counts
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
