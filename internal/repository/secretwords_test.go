package repository

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// TestHoldsSecrets: what the text is searched for is what a regular expression finds.
func TestHoldsSecrets(t *testing.T) {
	want := regexp.MustCompile(`\bkind["']?[ \t]*:[ \t]*["']?Secret(List)?\b|\bstringData\b|\bpath["']?[ \t]*:[ \t]*["']?/(data|stringData)\b`)
	pieces := []string{"kind", "Secret", "List", "stringData", "data", "path", "/", ":", " ", "\t", "\n", `"`, "'", "x", "_", "-", "kind: ", "path: /", "op: add\n"}
	random := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 60_000 {
		var b strings.Builder
		for range 1 + random.IntN(7) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		text := b.String()
		if got := HoldsSecrets(text); got != want.MatchString(text) {
			t.Fatalf("%q: %v", text, got)
		} else if got {
			found++
		}
	}
	if found < 1000 {
		t.Errorf("only %d texts hold a Secret", found)
	}
}
