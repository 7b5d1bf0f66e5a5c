// Package finding holds what a validation says: findings, unresolved questions
// and the report that gathers them. It sorts and prints them, and judges nothing.
package finding

import "strings"

// Severity of a finding.
type Severity string

// The severities: an error means that Flux will fail, drift, leak or let a
// tenant out; a warning is likely wrong or fragile; an info is advice.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Object names the Kubernetes object that a finding is about.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

// String gives kind namespace/name, "" for no object.
func (o Object) String() string {
	return strings.TrimSpace(o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"))
}

// Finding is one thing that is wrong, with the place to mend it.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	// File is relative to the repository's root, with forward slashes; Line
	// and Column start at 1 and are 0 where there is none.
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Object  Object `json:"object"`
	Cluster string `json:"cluster"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	Fixable bool   `json:"fixable"`
	// Fix mends the finding for certain; nil where that isn't known.
	Fix *Fix `json:"-"`
	// Fingerprint names the finding from run to run, wherever its line moves; it
	// is unique in a report. NewReport sets it.
	Fingerprint string `json:"fingerprint"`
	// Declared is where the thing is declared that the finding is about, if that
	// isn't at File and Line: an ignore there counts too.
	Declared Place `json:"-"`
	// Secret says that what stands at Column must not be shown.
	Secret bool `json:"-"`
	// ObjectAt is where the object stands, if that isn't around Line: its
	// annotation counts.
	ObjectAt Place `json:"-"`
	// Cause is what findings of one rule have in common that one change mends, "" for none: people
	// are told of many of them once.
	Cause string `json:"-"`
	// Several says that Object is one of several that the finding is about: annotations of one
	// don't count.
	Several bool `json:"-"`
}

// Hidden stands for a secret value in what people and scripts are shown.
const Hidden = "<hidden>"

// Place is a line of a file.
type Place struct {
	File string
	Line int
}

// Ignored is a finding that is not reported, since somebody decided so. One that
// was unresolved has the severity "unresolved" and its reason as message.
type Ignored struct {
	Finding
	// Reason that was given, and By the place where: FILE:LINE, or a baseline.
	Reason string `json:"reason"`
	By     string `json:"by"`
}

// Fix is what mends a finding: all of its edits, or none.
type Fix struct{ Edits []Edit }

// Edit replaces a text in a file.
type Edit struct {
	// File, Line and Column are where Old stands; Column counts characters from 1.
	File         string
	Line, Column int
	// Old is replaced by New; an empty Old inserts it.
	Old, New string
}

// Unresolved is a question that cannot be decided offline.
type Unresolved struct {
	Rule   string `json:"rule"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
	// Question and Cause are the parts of Reason where others have the same cause: what people
	// read tells it once. Both are "" elsewhere.
	Question string `json:"-"`
	Cause    string `json:"-"`
}

// Summary counts what was looked at and found.
type Summary struct {
	Files     int `json:"files"`
	Documents int `json:"documents"`
	Clusters  int `json:"clusters"`
	// Builds counts the Kustomizations that were built for the clusters that are validated, one
	// of a shared base once for each; Objects what they apply, without what charts render.
	Builds         int `json:"builds"`
	Objects        int `json:"objects"`
	Kustomizations int `json:"kustomizations"`
	HelmReleases   int `json:"helmReleases"`
	Errors         int `json:"errors"`
	Warnings       int `json:"warnings"`
	Infos          int `json:"infos"`
	// Ignored counts what is not reported, RulesOff the rules that did not run.
	Ignored  int `json:"ignored"`
	RulesOff int `json:"rulesOff"`
	// NotJudged counts the files of examples and tests whose objects are not held against schemas,
	// since no cluster applies them.
	NotJudged int `json:"notJudged"`
}

// Report is the result of a validation; its JSON form is stable.
type Report struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Findings   []Finding    `json:"findings"`
	Unresolved []Unresolved `json:"unresolved"`
	Ignored    []Ignored    `json:"ignored"`
	Summary    Summary      `json:"summary"`
	// Failure says what stopped the validation, "" where nothing did.
	Failure string `json:"failure,omitempty"`
}
