package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestFigures: what the pages say of the long runs is what their transcripts say.
func TestFigures(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	grouped := func(n string) string {
		if len(n) > 3 {
			return n[:len(n)-3] + "," + n[len(n)-3:]
		}
		return n
	}
	for _, c := range []struct{ transcript, pattern, page, says string }{
		{"soak.txt", `(?m)^\$ make soak (SEED=\d+)$`, "writes.md", "`$1`:"},
		{"soak.txt", `(?m)^all +10000 +(\d+) `, "writes.md", "$1 of the 10,000 kills left something"},
		{"soak.txt", `(?m)^all +10000 +\d+ +(\d+) `, "writes.md", "$1 files were saved meanwhile"},
		{"soak.txt", `(?m)^nothing was (lost)`, "writes.md", "nothing was $1"},
	} {
		text := read(c.transcript)
		found := regexp.MustCompile(c.pattern).FindStringSubmatch(text)
		if found == nil {
			t.Errorf("%s has no %s", c.transcript, c.pattern)
			continue
		}
		figure := found[1]
		if regexp.MustCompile(`^\d+$`).MatchString(figure) {
			figure = grouped(figure)
		}
		if says := strings.Replace(c.says, "$1", figure, 1); !strings.Contains(strings.Join(strings.Fields(read(c.page)), " "), says) {
			t.Errorf("%s doesn't say %q, as %s", c.page, says, c.transcript)
		}
	}
}
