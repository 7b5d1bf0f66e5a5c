package bootstrap

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/output"
)

// The maximum numbers of differing objects and fields in the text report; the JSON report has all.
const (
	mostShownObjects = 20
	mostShownFields  = 10
)

// write prints the objects that differ, as diff does, below the differences of a release.
func (r *Rendered) write(out *output.Text, verdict Verdict) {
	switch {
	case r == nil || r.Result == Same && verdict != Drift:
		return
	case r.Result == Same:
		_ = out.Printf("      %s\n", cosmetic)
		return
	case r.Result == NotRendered:
		if verdict != Unresolved { // an unresolved verdict has this reason, or one of its own
			_ = out.Printf("      unresolved by rendering: %s\n", r.Reason)
		}
		if r.Hint != "" {
			_ = out.Printf("      hint: %s\n", r.Hint)
		}
		return
	}
	_ = out.Printf("      objects that Flux changes: %s\n", r.Summary.words())
	for _, group := range []struct {
		mark    output.Painted
		objects []InstalledObject
		all     int
	}{
		{output.Paint(output.Green, "+"), r.Added, r.Summary.Added}, {output.Paint(output.Red, "-"), r.Removed, r.Summary.Removed},
		{output.Paint("", "~"), r.Changed, r.Summary.Changed}, {output.Paint(output.Yellow, "?"), r.Undecided, r.Summary.Undecided},
	} {
		for _, o := range group.objects[:min(len(group.objects), mostShownObjects)] {
			_ = out.Printf("        %s %s %s   %s\n", group.mark, o.Object.Kind, strings.TrimPrefix(o.Object.Namespace+"/"+o.Object.Name, "/"), o.Template)
			for _, f := range o.Fields[:min(len(o.Fields), mostShownFields)] {
				f.Write(out, "            ")
			}
			if more := len(o.Fields) - mostShownFields; more > 0 {
				_ = out.Printf("            … %d more fields\n", more)
			}
		}
		if more := group.all - mostShownObjects; more > 0 {
			_ = out.Printf("        %s %d more\n", group.mark, more)
		}
	}
}

// words returns the counts of the objects: "1 added, 2 changed".
func (s RenderedSummary) words() string {
	var parts []string
	for _, each := range []struct {
		n    int
		what string
	}{{s.Added, "added"}, {s.Removed, "removed"}, {s.Changed, "changed"}, {s.Undecided, "differ, and their templates read the cluster"}} {
		if each.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", each.n, each.what))
		}
	}
	return strings.Join(parts, ", ")
}
