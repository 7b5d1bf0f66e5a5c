package finding

import (
	"cmp"
	"fmt"
	"slices"
)

// APIVersion and Kind of a report.
const (
	APIVersion = "fleetwright.dev/v1alpha1"
	Kind       = "ValidationReport"
)

// NewReport sorts findings and unresolved questions, drops those given twice,
// and counts the findings. The summary's other counts are the caller's.
func NewReport(findings []Finding, unresolved []Unresolved, checked Summary) Report {
	findings, unresolved = slices.Clone(findings), slices.Clone(unresolved)
	slices.SortFunc(findings, compare)
	slices.SortFunc(unresolved, func(a, b Unresolved) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Reason, b.Reason))
	})
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

// WithIgnored adds what is not reported.
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

// withoutOnlyCluster leaves out which cluster a finding is about, for people, where there is
// only one.
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

// withLists makes lists that are nil empty: machines never read null.
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

// compare orders findings by place, then by what they say.
func compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Cluster, b.Cluster),
		cmp.Compare(a.Object.Kind, b.Object.Kind), cmp.Compare(a.Object.Namespace, b.Object.Namespace),
		cmp.Compare(a.Object.Name, b.Object.Name), cmp.Compare(a.Object.APIVersion, b.Object.APIVersion),
		cmp.Compare(a.Message, b.Message), cmp.Compare(a.Hint, b.Hint),
	)
}

// Empty says that nothing was found to check, so that a report without findings
// proves nothing: the caller exits with status 2.
func (r Report) Empty() bool { return r.Summary.Files == 0 && len(r.Findings) == 0 }

// Reaches says whether a finding is at or above a severity.
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

// ParseSeverity reads a severity as flags spell it.
func ParseSeverity(text string) (Severity, error) {
	switch s := Severity(text); s {
	case Error, Warning, Info:
		return s, nil
	}
	return "", fmt.Errorf("%q is no severity; allowed are error, warning, info", text)
}

// same says whether two findings say the same; what mends them is made for each anew.
func same(a, b Finding) bool {
	a.Fix, b.Fix = nil, nil
	return a == b
}
