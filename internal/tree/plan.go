package tree

import (
	"fmt"
	"iter"
	"strings"
)

// Action is the action of a plan on a file.
type Action string

// The actions.
const (
	Create Action = "create"
	Update Action = "update"
	Delete Action = "delete"
	Keep   Action = "keep"
)

// Step is one file of a plan.
type Step struct {
	Path   string
	Action Action
	Mode   Mode // empty for the inventory
	// Old and New are the file's bytes before and after. They are nil if the file does not exist, and both nil if it is
	// kept.
	Old, New []byte
}

// Plan contains the steps that change a folder or a revision to a rendered tree. Compare creates it,
// and it is not changed afterwards.
type Plan struct {
	// Steps are sorted by path. Files in conflict have none.
	Steps []Step
	// Conflicts are sorted by path: files that are kept because of the user's changes.
	Conflicts []Conflict
	// Left are the files that are not managed any more, sorted by path.
	Left []Left
	// RenderedBy is the release that wrote the current inventory, "" if it was not a release.
	RenderedBy string
	// Inventory is the inventory after the plan is applied.
	Inventory *Inventory

	// relied are the files on whose state the plan depends although it does not change them.
	relied []reliance
}

// reliance is the state of a file in the comparison.
type reliance struct {
	path string
	// digest is empty if the file did not exist.
	digest string
}

// Changes yields the files to write or delete, in the order of the paths, including the inventory:
// all changes that a folder or a commit needs for the plan. New is nil only for Delete.
func (p *Plan) Changes() iter.Seq[Step] {
	return func(yield func(Step) bool) {
		for _, s := range p.Steps {
			if s.Action != Keep && !yield(s) {
				return
			}
		}
	}
}

// Empty reports whether there is nothing to write or delete.
func (p *Plan) Empty() bool {
	for range p.Changes() {
		return false
	}
	return true
}

// Stale reports whether the folder or revision differs from the rendered tree: something would
// change, or there is a conflict.
func (p *Plan) Stale() bool { return len(p.Conflicts) > 0 || !p.Empty() }

// Summary counts the files of a plan, including the inventory.
type Summary struct {
	Created, Updated, Deleted, Kept, Left, Conflicts int
}

// Summary counts the actions of the plan.
func (p *Plan) Summary() Summary {
	s := Summary{Left: len(p.Left), Conflicts: len(p.Conflicts)}
	for _, step := range p.Steps {
		switch step.Action {
		case Create:
			s.Created++
		case Update:
			s.Updated++
		case Delete:
			s.Deleted++
		case Keep:
			s.Kept++
		}
	}
	return s
}

// String returns the summary in words: "3 created, 1 deleted, 40 unchanged".
func (s Summary) String() string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{
		{s.Created, "created"}, {s.Updated, "updated"}, {s.Deleted, "deleted"},
		{s.Kept, "unchanged"}, {s.Left, "left unmanaged"}, {s.Conflicts, "in conflict"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if len(parts) == 0 {
		return "nothing to do"
	}
	return strings.Join(parts, ", ")
}

// ConflictKind is the reason why a file is kept.
type ConflictKind string

// The kinds of conflicts.
const (
	// Edited: we wrote the file, and it was changed since.
	Edited ConflictKind = "edited"
	// Foreign: a file that we did not write is at the path of a generated file.
	Foreign ConflictKind = "foreign"
	// LeftBehind: we wrote the file, it was changed since, and it is not generated any more. It is removed from the
	// inventory and belongs to the user from now on.
	LeftBehind ConflictKind = "left-behind"
	// Blocked: a symbolic link, a folder or similar is at the path where we would write, or above.
	Blocked ConflictKind = "blocked"
)

// Conflict is a file that a plan keeps, because the user's work would be lost otherwise.
type Conflict struct {
	Path string
	Kind ConflictKind
	// At and What describe what blocks the path of a Blocked conflict.
	At, What string
	// Current and Desired are the file's current and rendered bytes; Desired is nil for LeftBehind.
	// Current is nil if it cannot be shown: Blocked, or too large.
	Current, Desired []byte
}

// Message describes the conflict in one line.
func (c Conflict) Message() string {
	switch c.Kind {
	case Edited:
		return fmt.Sprintf("%q was edited after it was rendered: not changed", c.Path)
	case Foreign:
		return fmt.Sprintf("%q exists and was not written by fleetwright: not changed", c.Path)
	case LeftBehind:
		return fmt.Sprintf("%q is no longer generated, but was edited: not deleted, and no longer managed by fleetwright", c.Path)
	case Blocked:
		return fmt.Sprintf("%q cannot be written: %q is %s", c.Path, c.At, c.What)
	}
	return fmt.Sprintf("%q is in conflict", c.Path)
}

// Hint returns how to resolve the conflict, without a line break.
func (c Conflict) Hint() string {
	switch c.Kind {
	case Edited:
		return fmt.Sprintf("move the change into the specification, or discard it with --overwrite %s", c.Path)
	case Foreign:
		return fmt.Sprintf("move the file away, or replace it with --overwrite %s", c.Path)
	case LeftBehind:
		return "keep the file and maintain it yourself, or delete it"
	case Blocked:
		return fmt.Sprintf("move %s away and render again", c.At)
	}
	return ""
}

// Left is a carried file that is not generated any more and that the user created or changed, or a file in the inventory
// that is not ours. It is kept, and removed from the inventory, so that it is reported once.
type Left struct {
	Path string
	// Forged is set if the inventory lists the file although no render writes such a file.
	Forged bool
}

// Message describes the file, without a line break.
func (l Left) Message() string {
	if l.Forged {
		return fmt.Sprintf("%q is in the inventory, but render does not write such a file: not deleted, and removed from the inventory", l.Path)
	}
	return fmt.Sprintf("%q is no longer declared, but was edited: not deleted, and no longer managed by fleetwright", l.Path)
}

// Hint returns what to do about the file, without a line break.
func (l Left) Hint() string {
	if l.Forged {
		return "check who added it to " + InventoryPath + "; delete it if it is a starter file that is no longer needed"
	}
	return "no cluster applies it any more: delete it, or keep it and add a rule for it to spec.rules of the Encryption"
}

// Retired returns the carried files that a plan deletes: Fleetwright created them, they were not changed since, and they
// are not generated any more.
func (p *Plan) Retired() []string {
	var out []string
	for _, s := range p.Steps {
		if s.Action == Delete && s.Mode == Carried {
			out = append(out, s.Path)
		}
	}
	return out
}
