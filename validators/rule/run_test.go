package rule

import (
	"strings"
	"testing"
)

// TestLimitsWithoutRules: what was not read is reported even if no rule runs.
func TestLimitsWithoutRules(t *testing.T) {
	repo := load(t, map[string]string{"deep.yaml": strings.Repeat("[", 300) + strings.Repeat("]", 300)})
	out, err := Run(t.Context(), repo, Options{})
	if err != nil || len(out.Findings) != 1 || out.Findings[0].Rule != LimitExceeded || out.Findings[0].File != "deep.yaml" {
		t.Errorf("got %+v, %v", out.Findings, err)
	}
}
