package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The pages of docs/cli are made of the commands themselves.
func TestDocs(t *testing.T) {
	root := newRoot(streams{env: func(string) string { return "" }})
	const dir = "../../docs/cli"
	want := map[string]bool{}
	for _, c := range below(root) {
		if c.Hidden || c.Name() == "help" || strings.HasPrefix(c.CommandPath(), "fleetwright completion ") {
			continue
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "_") + ".md"
		want[name] = true
		golden(t, filepath.Join(dir, name), page(c))
	}
	files, err := filepath.Glob(dir + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if want[filepath.Base(f)] {
			continue
		}
		if *update {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s describes a command that there is not: run the tests with -update", f)
	}
	if !slices.Contains(files, dir+"/fleetwright_render.md") && !*update {
		t.Error("docs/cli does not describe render")
	}
}

// page is a command's page. cobra/doc would do, but for the modules of its man
// pages.
func page(c *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", c.CommandPath(), c.Short)
	if c.Runnable() {
		fmt.Fprintf(&b, "```\n%s\n```\n\n", c.UseLine())
	}
	if c.Long != "" {
		fmt.Fprintf(&b, "%s\n\n", c.Long)
	}
	c.InitDefaultHelpFlag()
	if flags := c.NonInheritedFlags().FlagUsagesWrapped(90); flags != "" {
		fmt.Fprintf(&b, "## Flags\n\n```\n%s```\n\n", flags)
	}
	var links []string
	if c.HasParent() {
		links = append(links, link(c.Parent()))
	}
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() && !strings.HasPrefix(child.CommandPath(), "fleetwright completion ") {
			links = append(links, link(child))
		}
	}
	fmt.Fprintf(&b, "## See also\n\n%s", strings.Join(links, ""))
	return b.Bytes()
}

func link(c *cobra.Command) string {
	path := c.CommandPath()
	return fmt.Sprintf("* [%s](%s.md): %s\n", path, strings.ReplaceAll(path, " ", "_"), c.Short)
}
