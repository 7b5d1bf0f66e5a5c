package bootstrap

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// TestVerify compares the text report of each archive with its file "want".
func TestVerify(t *testing.T) {
	archives, err := filepath.Glob("../../testdata/bootstraps/[^h]*/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			report, err := Verify(t.Context(), testarchive.Repository(t, a), nil)
			if err != nil {
				got.WriteString("error: " + err.Error() + "\n")
			} else if err := report.WriteText(&got, TextOptions{}); err != nil {
				t.Fatal(err)
			}
			testarchive.CheckWant(t, name, a, got.Bytes())
		})
	}
}
