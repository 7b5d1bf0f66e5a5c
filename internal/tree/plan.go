package tree

import (
	"fmt"
	"iter"
	"strings"
)

// Action is what a plan does with a file.
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
	// Old and New are the file's bytes before and after; nil where there is no
	// file, and both nil where it is kept.
	Old, New []byte
}

// Plan brings a folder or a revision to a rendered tree. It is made by Compare
// and not changed afterwards.
type Plan struct {
	// Steps are sorted by path. Files in conflict have none.
	Steps []Step
	// Conflicts are sorted by path: files that are left as they are.
	Conflicts []Conflict
	// Left are sorted by path: files that go their own way from now on.
	Left []Left
	// RenderedBy is the release that wrote the inventory so far, if one did.
	RenderedBy string
	// Inventory is what the inventory says when the plan is done.
	Inventory *Inventory
}

// Changes yields what is to be written or deleted, in the order of the paths,
// the inventory among them: what a folder or a commit needs to become what was
// planned. New is never nil but for Delete.
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

// Stale reports whether the folder or revision differs from what was rendered:
// something would change, or is in conflict.
func (p *Plan) Stale() bool { return len(p.Conflicts) > 0 || !p.Empty() }

// Summary counts the files of a plan, the inventory among them.
type Summary struct {
	Created, Updated, Deleted, Kept, Left, Conflicts int
}

// Summary counts what the plan does.
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

// String is the summary in words: "3 created, 1 deleted, 40 unchanged".
func (s Summary) String() string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{
		{s.Created, "created"}, {s.Updated, "updated"}, {s.Deleted, "deleted"},
		{s.Kept, "unchanged"}, {s.Left, "left to you"}, {s.Conflicts, "in conflict"},
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

// ConflictKind says why a file is left as it is.
type ConflictKind string

// The kinds of conflicts.
const (
	// Edited: we wrote the file, and it was changed since.
	Edited ConflictKind = "edited"
	// Foreign: a file that we did not write stands where we would.
	Foreign ConflictKind = "foreign"
	// LeftBehind: we wrote the file, it was changed since, and it is no longer
	// generated. The inventory forgets it: it is the user's from now on.
	LeftBehind ConflictKind = "left-behind"
	// Blocked: a symbolic link, a folder or the like stands where we would
	// write, or above.
	Blocked ConflictKind = "blocked"
)

// Conflict is a file that a plan leaves as it is, because the user's work would
// be lost otherwise.
type Conflict struct {
	Path string
	Kind ConflictKind
	// At and What say what blocks a Blocked path.
	At, What string
	// Current and Desired are the file's bytes as they are and as they were
	// rendered; Desired is nil for LeftBehind. Current is nil when it cannot be
	// shown: Blocked, or too large.
	Current, Desired []byte
}

// Message says what is the matter, without a line break.
func (c Conflict) Message() string {
	switch c.Kind {
	case Edited:
		return fmt.Sprintf("%q was edited since it was rendered: left as it is", c.Path)
	case Foreign:
		return fmt.Sprintf("%q is in the way and not written by fleetwright: left as it is", c.Path)
	case LeftBehind:
		return fmt.Sprintf("%q is no longer generated, but was edited: left in place, and yours from now on", c.Path)
	case Blocked:
		return fmt.Sprintf("%q cannot be written: %q is %s", c.Path, c.At, c.What)
	}
	return fmt.Sprintf("%q is in conflict", c.Path)
}

// Hint names the ways out, without a line break.
func (c Conflict) Hint() string {
	switch c.Kind {
	case Edited:
		return fmt.Sprintf("move the change into the specification, or discard it with --overwrite %s", c.Path)
	case Foreign:
		return fmt.Sprintf("move the file away, or replace it with --overwrite %s", c.Path)
	case LeftBehind:
		return "keep the file as your own, or delete it"
	case Blocked:
		return fmt.Sprintf("move %s away and render again", c.At)
	}
	return ""
}

// Left is a carried file that is no longer generated, and that the user made or
// changed, or a file of the inventory that is none of ours. It stays, and the
// inventory forgets it: it is told of once.
type Left struct {
	Path string
	// Forged says that the inventory lists it, and no render writes such a file.
	Forged bool
}

// Message says what is the matter, without a line break.
func (l Left) Message() string {
	if l.Forged {
		return fmt.Sprintf("%q is in the inventory, but is no file as a render writes it: left in place, and no longer listed", l.Path)
	}
	return fmt.Sprintf("%q is no longer declared, and is not as fleetwright made it: left in place, and yours from now on", l.Path)
}

// Hint names the ways out, without a line break.
func (l Left) Hint() string {
	if l.Forged {
		return "look at who added it to " + InventoryPath + "; a starter file that is no longer needed is yours to delete"
	}
	return "nothing applies it any more: delete it, or keep it as a file of your own with a rule for it, among spec.rules of the Encryption"
}

// Retired are the carried files that a plan deletes: Fleetwright made them, nobody
// changed them since, and they are no longer generated.
func (p *Plan) Retired() []string {
	var out []string
	for _, s := range p.Steps {
		if s.Action == Delete && s.Mode == Carried {
			out = append(out, s.Path)
		}
	}
	return out
}
