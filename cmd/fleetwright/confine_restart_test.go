package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestConfinedCommands: docs/security.md lists each command that is confined, and no other; what is in the
// table are commands with such flags.
func TestConfinedCommands(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| Command that started again |")
	table, _, _ = strings.Cut(table, "\n\n")
	root := newRoot(streams{})
	for name, c := range confinements {
		words := strings.Fields(name)
		found, rest, err := root.Find(words)
		if err != nil || len(rest) > 0 {
			t.Errorf("%q is no command: %v", name, err)
			continue
		}
		if c.with != "" {
			if found.Flags().Lookup(c.with) == nil {
				t.Errorf("%q has no flag --%s", name, c.with)
			}
			name += " --" + c.with
		}
		if !strings.Contains(table, "`"+name+"`") {
			t.Errorf("docs/security.md doesn't list %q", name)
		}
	}
	for _, words := range strings.Split(table, "`") {
		name, _, _ := strings.Cut(words, " --")
		found, rest, err := root.Find(strings.Fields(name))
		if err != nil || len(rest) > 0 || found == root || found.HasSubCommands() || name == "fn" {
			continue
		}
		if _, ok := confinements[name]; !ok {
			t.Errorf("docs/security.md lists %q, which is not confined", name)
		}
	}
}

// TestReads: what a command may read is what its command line names.
func TestReads(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"repo/.git/HEAD", "repo/part/a", "charts/a", "source/a"} {
		putFile(t, filepath.Join(dir, name), nil)
	}
	for line, want := range map[string][]string{
		"validate repo --charts charts --format json":    {"charts", "repo"},
		"validate repo/part --source flux/a=source":      {"repo/part", "source"},
		"bootstrap values media/plex repo":               {"repo"},
		"bootstrap values media/plex":                    {"."},
		"secrets check":                                  {"."},
		"diff repo --from HEAD --to other --format json": {"repo"},
	} {
		root := newRoot(streams{env: func(string) string { return "" }})
		found, rest, err := root.Find(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		found.Args, found.RunE = nil, func(c *cobra.Command, args []string) error {
			got = commandLine{c, args, func(string) string { return "" }}.reads()
			return nil
		}
		root.SetArgs(strings.Fields(line))
		if err := root.Execute(); err != nil {
			t.Fatal(err, rest)
		}
		got = slices.DeleteFunc(got, func(path string) bool { return strings.Contains(path, ".git") })
		if !slices.Equal(got, want) {
			t.Errorf("%s: reads %q, want %q", line, got, want)
		}
	}
}
