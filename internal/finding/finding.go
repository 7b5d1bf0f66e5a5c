// Package finding holds the result of a validation: findings, unresolved questions and the report
// with both. It sorts and prints them.
package finding

import (
	"fmt"
	"strings"
)

// Severity of a finding.
type Severity string

// The severities. An error means that Flux fails, drifts or leaks a secret, or that a
// tenant gets more permissions than intended; a warning is probably wrong or fragile; an info is advice.
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

// String returns kind namespace/name, "" for no object.
func (o Object) String() string {
	return strings.TrimSpace(o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"))
}

// Finding is one problem, with the place where to fix it.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Place
	Object  Object `json:"object"`
	Cluster string `json:"cluster"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	Fixable bool   `json:"fixable"`
	// Fix is an edit that certainly fixes the finding; nil if there is none.
	Fix *Fix `json:"-"`
	// Fingerprint identifies the finding from run to run, even if its line moves; it is unique in a
	// report. NewReport sets it.
	Fingerprint string `json:"fingerprint"`
	// Declared is the place where the subject of the finding is declared, if that is not File and
	// Line: an ignore there also applies.
	Declared Place `json:"-"`
	// Secret is set if the line must not be printed.
	Secret bool `json:"-"`
	// ObjectAt is the place of the object, if Line is not in it: annotations of the object also apply.
	ObjectAt Place `json:"-"`
	// Cause identifies findings of one rule that a single change fixes, "" for none: the text report
	// prints many of them once.
	Cause string `json:"-"`
	// Several is set if the finding is about several objects: annotations of Object alone
	// don't apply.
	Several bool `json:"-"`
}

// Place is a place in a file; Line and Column are 0 if they are unknown.
type Place struct {
	// File is relative to the repository's root, with forward slashes.
	File string `json:"file"`
	// Line and Column start at 1.
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Short returns FILE:LINE.
func (p Place) Short() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// At returns the finding at a place.
func (f Finding) At(at Place) Finding {
	f.Place = at
	return f
}

// Ignored is a finding that is not reported because of an ignore or a baseline. An ignored unresolved entry
// has the severity "unresolved" and its reason as message.
type Ignored struct {
	Finding
	// Reason of the ignore, and By its place: FILE:LINE, or a baseline.
	Reason string `json:"reason"`
	By     string `json:"by"`
}

// Fix contains the edits that fix a finding: all of them are applied, or none.
type Fix struct{ Edits []Edit }

// Edit replaces a string in a file.
type Edit struct {
	// Place of Old; Column counts characters.
	Place
	// Old is replaced by New; an empty Old inserts it.
	Old, New string
}

// Unresolved is a question that cannot be decided offline.
type Unresolved struct {
	Rule   string `json:"rule"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
	// Question and Cause are the parts of Reason if others have the same cause, which the text report
	// prints once. Both are "" otherwise.
	Question string `json:"-"`
	Cause    string `json:"-"`
}

// Summary counts what was read and found.
type Summary struct {
	Files     int `json:"files"`
	Documents int `json:"documents"`
	Clusters  int `json:"clusters"`
	// Builds counts the Kustomizations that were built for the validated clusters; a Kustomization of a shared
	// base counts once for each cluster. Objects counts the objects that they apply, without the rendered objects
	// of charts.
	Builds         int `json:"builds"`
	Objects        int `json:"objects"`
	Kustomizations int `json:"kustomizations"`
	HelmReleases   int `json:"helmReleases"`
	Errors         int `json:"errors"`
	Warnings       int `json:"warnings"`
	Infos          int `json:"infos"`
	// Ignored counts the findings that are not reported, RulesOff the rules that did not run.
	Ignored  int `json:"ignored"`
	RulesOff int `json:"rulesOff"`
	// NotJudged counts the files of examples and tests. Their objects are not checked against schemas,
	// because no cluster applies them.
	NotJudged int `json:"notJudged"`
	// Coverage is how much was checked; nil if no rule needed the objects of clusters.
	Coverage *Coverage `json:"coverage,omitempty"`
}

// Report is the result of a validation; its JSON form is stable.
type Report struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Findings   []Finding    `json:"findings"`
	Unresolved []Unresolved `json:"unresolved"`
	Ignored    []Ignored    `json:"ignored"`
	Summary    Summary      `json:"summary"`
	// Failure is the error that stopped the validation, "" if none did.
	Failure string `json:"failure,omitempty"`
}
