package helmfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// TestReleases compares the releases of each archive, evaluated, with its file
// "want". The real helmfile reads the same archives in TestAgainstHelmfile.
func TestReleases(t *testing.T) {
	archives, err := filepath.Glob("testdata/helmfile/*.txtar")
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
			files, _, err := ReadAll(t.Context(), testarchive.Repository(t, a))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range slices.Concat(files...) {
				writeRelease(&got, r)
			}
			testarchive.CheckWant(t, name, a, got.Bytes())
		})
	}
}

func writeRelease(out *bytes.Buffer, r *Release) {
	if r.Unreadable != "" {
		fmt.Fprintf(out, "%s:%d: unreadable: %s\n", r.File, r.Line, r.Unreadable)
		return
	}
	fmt.Fprintf(out, "%s:%d: %s/%s %s %s\n", r.File, r.Line, r.Namespace.Known(), r.Name.Known(), r.Chart.Known(), r.Version.Known())
	if r.source.Value != "" {
		fmt.Fprintf(out, "  from %s   %s:%d\n", r.source.Value, r.source.File, r.source.Line)
	}
	r.Values.Value.Walk("", func(path string, v *located.Value) {
		text, err := json.Marshal(v.Scalar)
		if err != nil {
			text = []byte(err.Error())
		}
		fmt.Fprintf(out, "  %s: %s   %s:%d\n", path, text, v.File, v.Line)
	})
	for _, reason := range r.effective().Unresolved {
		fmt.Fprintf(out, "  unresolved: %s\n", reason)
	}
	if r.Skipped != nil {
		fmt.Fprintf(out, "  not installed: %s   %s:%d\n", r.Skipped.Value, r.Skipped.File, r.Skipped.Line)
	}
	if len(r.Refusals) > 0 {
		fmt.Fprintf(out, "  refused: %s   %s:%d\n", r.Refusals[0].Value, r.Refusals[0].File, r.Refusals[0].Line)
	}
}
