package rule

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// TestScrubbedFindings: only findings that a report holds are scrubbed, and those whole: a value that stands where a
// message is cut is hidden, and so is one in a finding that is ignored.
func TestScrubbedFindings(t *testing.T) {
	const password, more = "Xk9dkDk39fkd0dDk", 7
	dir := t.TempDir()
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {password: " + password + "}\n"
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	repo, err := repository.Load(dir, repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	quotes := Rule{ID: "test-quotes", Severity: finding.Error, Run: func(p *Pass) {
		for line := range limits.Findings + more {
			p.Report(finding.Finding{Place: finding.Place{File: "a.yaml", Line: line}, Message: strings.Repeat("a", 4085+line%10) + password})
		}
	}}
	ignored := quotes
	ignored.ID = "test-ignored"
	out, err := Run(t.Context(), repo, Options{Rules: []Rule{quotes, ignored}, Ignore: []finding.Selector{{Rules: []string{ignored.ID}}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Findings) != limits.Findings+1 || len(out.Ignored) != limits.Findings+more {
		t.Fatalf("%d findings and %d ignored", len(out.Findings), len(out.Ignored))
	}
	for _, i := range out.Ignored {
		out.Findings = append(out.Findings, i.Finding)
	}
	for _, f := range out.Findings {
		if strings.Contains(f.Message, password[:2]) {
			t.Fatalf("the message ends with %q", f.Message[len(f.Message)-60:])
		}
	}
}
