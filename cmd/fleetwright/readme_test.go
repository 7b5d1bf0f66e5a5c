package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// took is the time at the end of a summary, which no example shows.
var took = regexp.MustCompile(`(?m) \([0-9.]+ m?s\)$`)

// What the README shows of validate is what it prints in the repository of
// testdata/readme/repository.txtar.
func TestReadmeExample(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile("testdata/readme/repository.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := txtar.Write(archive, dir); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	var out bytes.Buffer
	root := newRoot(streams{out: &out, err: &out, env: func(string) string { return "" }})
	root.SetArgs([]string{"validate"})
	_ = root.ExecuteContext(context.Background()) // the findings are its error
	got := "$ fleetwright validate\n" + took.ReplaceAllString(strings.TrimSuffix(out.String(), "\n"), "") + "\n"
	if !strings.Contains(string(readme), "```console\n"+got+"```\n") {
		t.Errorf("the README does not show what is printed:\n%s", got)
	}
}
