package main

import (
	"io"
	"path"

	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/internal/version"
)

func printRecovery(s streams, dir string, r tree.Recovery) {
	switch {
	case r.Pending:
		_ = output.Printf(s.err, "note: %s: a write was interrupted, or is under way: the next render finishes it\n", shownDir(dir))
	case r.Finished > 0:
		_ = output.Printf(s.out, "%s: finished an interrupted write of %d files\n", shownDir(dir), r.Finished)
	case r.Cleaned:
		_ = output.Printf(s.out, "%s: took back an interrupted write\n", shownDir(dir))
	}
	for _, p := range r.Changed {
		_ = output.Printf(s.out, "%s: %q changed since the write was interrupted: left as it is\n", shownDir(dir), p)
	}
}

// printNewer says that a release which is newer than this build rendered a target.
func printNewer(w io.Writer, this version.Build, dir string, p *tree.Plan) {
	if p != nil && this.Before(p.RenderedBy) {
		_ = output.Printf(w, "warning: %s: fleetwright %s rendered it, which is newer than this %s\n", shownDir(dir), p.RenderedBy, this.Version)
		_ = output.Printf(w, "  hint: install %s or newer, or review what this version changes before you commit it\n", p.RenderedBy)
	}
}

// printRetired says what becomes of the files of Secrets that are no longer declared;
// deleted says it of those that go.
func printRetired(w io.Writer, p *tree.Plan, deleted string) {
	for _, file := range p.Retired() {
		_ = output.Printf(w, "%q is no longer declared, and is as fleetwright made it: %s\n", file, deleted)
	}
	for _, l := range p.Left {
		_ = output.Printf(w, "%s\n  hint: %s\n", l.Message(), l.Hint())
	}
}

// printConflicts shows files that were left as they are, each with its diff and
// the way out. prefix is what --overwrite wants in front of their paths.
func printConflicts(w io.Writer, prefix string, conflicts []tree.Conflict) error {
	for _, c := range conflicts {
		if _, err := output.Raw(w).Write(c.Diff()); err != nil { // printable by itself
			return err
		}
		c.Path = path.Join(prefix, c.Path)
		if err := output.Printf(w, "  hint: %s\n", c.Hint()); err != nil {
			return err
		}
	}
	return nil
}

// prefixOf is what stands before a path in --overwrite where there are several
// targets.
func prefixOf(target string, several bool) string {
	if several {
		return target
	}
	return ""
}
