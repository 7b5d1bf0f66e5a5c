package substitution_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/substitution"
)

func TestNeeded(t *testing.T) {
	for s, want := range map[string][]string{
		"plain":                         nil,
		"${a}":                          {"a"},
		"x-${a}-${b:=1}-${c}-${a}":      {"a", "c"},
		"$${a} ${b:-${c}}":              {"c"},
		"${a:-}${b/x/y}":                {"b"},
		strings.Repeat("${a}", 10_000):  {"a"},
		"\"${a}\": ${b:=\"https://x\"}": {"a"},
	} {
		got, err := substitution.Needed(s)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%.40q: %q, %v, want %q", s, got, err, want)
		}
	}
	many := ""
	for _, x := range "abcdefghijklmnopqrstuvwxyz" {
		for _, y := range "abcde" {
			many += "${" + string(x) + string(y) + "}"
		}
	}
	for _, s := range []string{"${", "${a", many, "${" + strings.Repeat("a", 1<<20) + "}"} {
		if got, err := substitution.Needed(s); err == nil {
			t.Errorf("%.40q: %q", s, got)
		}
	}
}
