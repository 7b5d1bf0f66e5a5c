package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// step is a command of a page, and what it prints as the page shows it.
type step struct{ command, want string }

var anyKey = regexp.MustCompile(`age1[0-9a-z]{20,}`)

// What docs/secrets.md shows of the way from nothing to a rotated secret is what happens.
func TestSecretsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/secrets.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "## From nothing to a rotated secret\n")
	text, _, more := strings.Cut(text, "\n## ")
	if !ok || !more {
		t.Fatal("the section is gone")
	}
	c := newCanaries(t)
	home := filepath.Join(c.dir, "home")
	_, secret, shown := strings.Cut(text, "```yaml\n")
	secret, _, closed := strings.Cut(secret, "```")
	if !shown || !closed {
		t.Fatal("the section shows no Secret")
	}
	steps := stepsOf(text)
	if len(steps) < 10 {
		t.Fatalf("the page shows %d commands", len(steps))
	}
	for _, s := range steps {
		if s.command == "fleetwright secrets encrypt" {
			putFile(t, filepath.Join(c.repo, "clusters/production/db.sops.yaml"), []byte(secret))
		}
		out, err := c.run("sh", "-c", strings.ReplaceAll(s.command, "~", "'"+home+"'"))
		if s.want == "" && err != nil { // else what is printed tells the status
			t.Errorf("%s: %v\n%s", s.command, err, out)
		}
		got := anyKey.ReplaceAllString(strings.ReplaceAll(out, home, "~"), "age1…")
		if s.want != "" && got != s.want {
			t.Errorf("%s prints\n%s\nand the page shows\n%s", s.command, got, s.want)
		}
	}
	c.words = []string{"correct horse"}
	c.look("at the end")
}

// stepsOf are the commands in a page, hidden ones among them; what is shown of a command may be
// nothing, and is then not compared.
func stepsOf(text string) []step {
	var steps []step
	inside := false
	for line := range strings.Lines(text) {
		if hidden, ok := strings.CutPrefix(line, "<!-- run: "); ok {
			steps = append(steps, step{command: strings.TrimSuffix(strings.TrimSpace(hidden), " -->")})
			continue
		}
		if strings.HasPrefix(line, "```") {
			inside = line == "```console\n"
			continue
		}
		if command, ok := strings.CutPrefix(line, "$ "); ok && inside {
			steps = append(steps, step{command: strings.TrimSpace(command)})
		} else if inside {
			steps[len(steps)-1].want += line
		}
	}
	return steps
}
