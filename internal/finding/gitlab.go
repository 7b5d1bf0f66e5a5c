package finding

import (
	"encoding/json"
	"io"

	"github.com/fleetwright/fleetwright/internal/output"
)

// gitLabIssue is a finding in GitLab's Code Quality report, a subset of Code
// Climate's (https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format).
type gitLabIssue struct {
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitLabLocation `json:"location"`
}

type gitLabLocation struct {
	Path  string      `json:"path"`
	Lines gitLabLines `json:"lines"`
}

type gitLabLines struct {
	Begin int `json:"begin"`
}

// gitLabSeverities maps severities to GitLab's. It does not use critical and blocker: a wrong
// manifest is not that bad.
var gitLabSeverities = map[Severity]string{Error: "major", Warning: "minor", Info: "info"}

// WriteGitLab writes a report's findings as a Code Quality report of GitLab, whose format has no place
// for unresolved entries.
func WriteGitLab(w io.Writer, r Report, o MachineOptions) error {
	r = r.withoutOnlyCluster()
	issues := make([]gitLabIssue, 0, len(r.Findings))
	for _, f := range r.Findings {
		severity := gitLabSeverities[f.Severity]
		if severity == "" {
			severity = "info"
		}
		issues = append(issues, gitLabIssue{
			Description: withHint(f), CheckName: f.Rule, Fingerprint: f.Fingerprint, Severity: severity,
			Location: gitLabLocation{Path: o.file(f.File), Lines: gitLabLines{Begin: max(f.Line, 1)}},
		})
	}
	encoder := json.NewEncoder(output.JSON(w))
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(issues)
}
