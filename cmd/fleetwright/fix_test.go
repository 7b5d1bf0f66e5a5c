//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
)

// TestFixSavedMeanwhile: a file that somebody saves while --fix looks for the fixes to write stays as it was saved.
func TestFixSavedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "clusters/one/ks.yaml")
	putFile(t, file, []byte(strings.Replace(fluxKs("app", ""), "  prune: true\n", "", 1)))
	putFile(t, filepath.Join(dir, "app/a.yaml"), []byte(configMap("a", "  b: c\n")))
	var stdout, stderr bytes.Buffer
	s := streams{in: strings.NewReader(""), out: &stdout, err: &stderr, env: func(string) string { return "" }}
	v := &validation{streams: s, flags: &validateFlags{format: formatText, isSet: func(string) bool { return false }}, folder: folder{dir: dir}}
	if err := v.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	o, err := v.options()
	if err != nil {
		t.Fatal(err)
	}
	saved := []byte(fluxKs("app", "  # saved\n"))
	saves := 0
	o.Rules = append(o.Rules, rule.Rule{ID: "saving", Run: func(*rule.Pass) { // in the middle of each trial
		saves++
		putFile(t, file, saved)
	}})
	err = v.fix(t.Context(), o)
	if err == nil || saves == 0 || !strings.Contains(err.Error(), "read: run the command again") {
		t.Errorf("after %d saves the error is %v", saves, err)
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, saved) {
		t.Errorf("the file is\n%s\n%v", now, err)
	}
}
