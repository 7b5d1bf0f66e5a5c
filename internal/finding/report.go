package finding

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/sorting"
)

// APIVersion and Kind of a report.
const (
	APIVersion = "fleetwright.dev/v1alpha1"
	Kind       = "ValidationReport"
)

// NewReport sorts findings and unresolved entries, removes duplicates and the unresolved entries that a finding decides, and
// counts the findings. The caller sets the summary's other counts.
func NewReport(findings []Finding, unresolved []Unresolved, checked Summary) Report {
	findings, unresolved = slices.Clone(findings), slices.Clone(unresolved)
	sorting.Func(findings, compare)
	sorting.Func(unresolved, func(a, b Unresolved) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Reason, b.Reason))
	})
	type text struct {
		file    string
		line    int
		message string
	}
	decided := map[text]bool{}
	for _, f := range findings {
		decided[text{f.File, f.Line, f.Message}] = true
	}
	unresolved = slices.DeleteFunc(unresolved, func(u Unresolved) bool { return decided[text{u.File, u.Line, u.Reason}] })
	r := Report{
		APIVersion: APIVersion,
		Kind:       Kind,
		Findings:   slices.CompactFunc(findings, same),
		Unresolved: slices.Compact(unresolved),
		Summary:    checked,
	}
	r.Summary.Errors, r.Summary.Warnings, r.Summary.Infos = 0, 0, 0
	for i, f := range r.Findings {
		r.Findings[i].Fixable = f.Fix != nil
		switch f.Severity {
		case Error:
			r.Summary.Errors++
		case Warning:
			r.Summary.Warnings++
		default:
			r.Summary.Infos++
		}
	}
	sign(r.Findings)
	return r.withLists()
}

// WithIgnored adds ignored findings.
func (r Report) WithIgnored(ignored []Ignored) Report {
	r.Ignored = slices.SortedStableFunc(slices.Values(ignored), func(a, b Ignored) int {
		return cmp.Or(compare(a.Finding, b.Finding), cmp.Compare(a.By, b.By))
	})
	r.Ignored = slices.Compact(r.Ignored)
	seen := map[string]int{}
	for i := range r.Ignored {
		r.Ignored[i].Fingerprint = numbered(seen, fingerprint(r.Ignored[i].Finding))
	}
	r.Summary.Ignored = len(r.Ignored)
	return r.withLists()
}

// withoutOnlyCluster removes the cluster from all findings if there is only one cluster, for reports that
// people read.
func (r Report) withoutOnlyCluster() Report {
	if r.Summary.Clusters != 1 {
		return r
	}
	r.Findings = slices.Clone(r.Findings)
	for i := range r.Findings {
		r.Findings[i].Cluster = ""
	}
	return r
}

// withLists replaces nil lists with empty ones: JSON never contains null.
func (r Report) withLists() Report {
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	if r.Unresolved == nil {
		r.Unresolved = []Unresolved{}
	}
	if r.Ignored == nil {
		r.Ignored = []Ignored{}
	}
	return r
}

// compare orders findings by place, then by rule, cluster, object and message.
func compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Cluster, b.Cluster),
		cmp.Compare(a.Object.Kind, b.Object.Kind), cmp.Compare(a.Object.Namespace, b.Object.Namespace),
		cmp.Compare(a.Object.Name, b.Object.Name), cmp.Compare(a.Object.APIVersion, b.Object.APIVersion),
		cmp.Compare(a.Message, b.Message), cmp.Compare(a.Hint, b.Hint),
	)
}

// Empty reports whether no file was read and nothing was found. A report without findings
// proves nothing then: the caller exits with status 2.
func (r Report) Empty() bool { return r.Summary.Files == 0 && len(r.Findings) == 0 }

// Reaches reports whether a finding has at least a severity.
func (r Report) Reaches(threshold Severity) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity.rank() >= threshold.rank() })
}

func (s Severity) rank() int {
	switch s {
	case Error:
		return 2
	case Warning:
		return 1
	}
	return 0
}

// ParseSeverity parses the severity in a flag.
func ParseSeverity(text string) (Severity, error) {
	switch s := Severity(text); s {
	case Error, Warning, Info:
		return s, nil
	}
	return "", fmt.Errorf("%q is not a severity; allowed are error, warning, info", text)
}

// same reports whether two findings are equal, except for their fixes.
func same(a, b Finding) bool {
	a.Fix, b.Fix = nil, nil
	return a == b
}
