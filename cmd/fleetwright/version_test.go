package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/internal/version"
)

func TestPrintVersion(t *testing.T) {
	b := version.Build{Version: "v1.2.3", Revision: "abc", Time: "2026-11-23T06:00:00Z", Modified: true, Go: "go1.26.8", Platform: "linux/arm64"}
	for format, want := range map[string]string{
		formatText: "fleetwright v1.2.3\n  revision abc of 2026-11-23T06:00:00Z, with uncommitted changes\n  built with go1.26.8 for linux/arm64\n",
		formatJSON: `"release": true`,
	} {
		var out bytes.Buffer
		text := output.NewText(&out, false)
		if err := printVersion(streams{out: text}, b, format); err != nil {
			t.Fatal(err)
		}
		if err := text.Flush(); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: want %q:\n%s", format, want, &out)
		}
	}
}

// A render says that a newer release rendered the target, and nothing of any other.
func TestPrintNewer(t *testing.T) {
	for _, c := range []struct {
		this, by string
		newer    bool
	}{
		{"v1.2.3", "v1.3.0", true}, {"v1.3.0", "v1.2.3", false}, {"v1.3.0", "", false}, {"(devel)", "v1.3.0", false},
	} {
		var out bytes.Buffer
		text := output.NewText(&out, false)
		printNewer(text, version.Build{Version: c.this}, "platform", &tree.Plan{RenderedBy: c.by})
		if err := text.Flush(); err != nil || (out.Len() > 0) != c.newer {
			t.Errorf("%s after %s prints %q", c.this, c.by, &out)
		}
	}
}
