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
		_ = output.Printf(s.err, "note: %s: a write was interrupted or is still running: the next render finishes it\n", shownDir(dir))
	case r.Finished > 0:
		_ = output.Printf(s.out, "%s: finished an interrupted write of %d files\n", shownDir(dir), r.Finished)
	case r.Cleaned:
		_ = output.Printf(s.out, "%s: rolled back an interrupted write\n", shownDir(dir))
	}
	for _, p := range r.Changed {
		_ = output.Printf(s.out, "%s: %q changed after the write was interrupted: not touched\n", shownDir(dir), p)
	}
}

// printNewer prints a warning if a newer release than this build rendered a target.
func printNewer(w io.Writer, this version.Build, dir string, p *tree.Plan) {
	if p != nil && this.Before(p.RenderedBy) {
		_ = output.Printf(w, "warning: %s: rendered by fleetwright %s, which is newer than this %s\n", shownDir(dir), p.RenderedBy, this.Version)
		_ = output.Printf(w, "  hint: install %s or newer, or review the changes of this version before you commit them\n", p.RenderedBy)
	}
}

// printRetired prints what happens to the files of Secrets whose declaration was removed. deleted describes the files
// that are deleted.
func printRetired(w io.Writer, p *tree.Plan, deleted string) {
	for _, file := range p.Retired() {
		_ = output.Printf(w, "%q is no longer declared, and was not edited: %s\n", file, deleted)
	}
	for _, l := range p.Left {
		_ = output.Printf(w, "%s\n  hint: %s\n", l.Message(), l.Hint())
	}
}

// printConflicts prints the files that were not written because of conflicts, each with its diff and a hint.
// prefix is the prefix of their paths in --overwrite.
func printConflicts(w io.Writer, prefix string, conflicts []tree.Conflict) error {
	for _, c := range conflicts {
		if _, err := output.Raw(w).Write(c.Diff()); err != nil { // Diff returns printable text
			return err
		}
		c.Path = path.Join(prefix, c.Path)
		if err := output.Printf(w, "  hint: %s\n", c.Hint()); err != nil {
			return err
		}
	}
	return nil
}

// prefixOf returns the prefix of a path in --overwrite: the target, if there are several.
func prefixOf(target string, several bool) string {
	if several {
		return target
	}
	return ""
}
