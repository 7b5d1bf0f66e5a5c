package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Options configure a comparison.
type Options struct {
	// Overwrite lists files that are rewritten (or deleted, if they are no longer generated)
	// although they were edited, block a path, or belong to the user. It is an error to list a file
	// that would be written anyway.
	Overwrite []string
	// RewriteAdopted rewrites all files of mode Adopted.
	RewriteAdopted bool
	// Target is the name of the target, which the new inventory records. If the inventory is of
	// another target, the error is a *TargetError.
	Target string
	// Release is the release of Fleetwright that the new inventory records, "" if the build is not a release.
	Release string
	// Tenants are the tenants' states that the new inventory records, and Guards are the objects that a later render
	// may remove only on request.
	Tenants []TenantState
	Guards  []string
	// Marked reports whether content contains the mark that renders add to the files that they own. If it is nil, all files
	// count as marked. See owned.go.
	Marked func(file string, content []byte) bool
	// Created reports whether a carried file is as Fleetwright created it, so that it may be deleted if it is not generated
	// any more. If it is nil, no carried file is deleted.
	Created func(content []byte) bool
}

// TargetError is returned if a folder contains files of another target than the one to be
// written: they would be treated as files that are no longer generated.
type TargetError struct{ Want, Is string }

func (e *TargetError) Error() string {
	return fmt.Sprintf("the files there belong to target %q, not to %q, according to %s", e.Is, e.Want, InventoryPath)
}

// maxShown is the maximum size of a file whose content a Conflict contains, and
// maxShownTotal the maximum of all of them together, in bytes.
const (
	maxShown      = 1 << 20
	maxShownTotal = 64 << 20
)

// Compare plans the changes from the current to the rendered files. It changes nothing and reads only the paths of the
// desired tree and of the inventory. A file that cannot be written without losing the user's work becomes a conflict, and
// the rest of the plan continues. It returns an error for paths that cannot be in the same folder, a wrong Overwrite, and
// files that the reader cannot read.
//
// For each desired file, in this order:
//
//	no file                 create; mode once only if no render created it before, or on request
//	same bytes              keep; the inventory records it
//	mode once or adopted    keep, whatever it contains; rewrite on request
//	mode carried            as managed, but if the current file is the one that was read,
//	                        the inventory keeps the digest of the bytes that were written
//	bytes as we wrote them  update
//	same YAML, other style  keep: a formatter changed it, not a user
//	in the inventory        conflict Edited; the inventory keeps the old digest,
//	                        so that the next run sees the edit too
//	otherwise               conflict Foreign
//
// A file in the inventory that is not desired any more is deleted if its bytes are as we wrote them and it is one that a
// render writes; otherwise it is LeftBehind or Left. A carried one is deleted if we created it, and otherwise Left.
func Compare(desired *Tree, current Reader, inv *Inventory, opts Options) (*Plan, error) {
	if inv.Target != "" && opts.Target != "" && inv.Target != opts.Target {
		return nil, &TargetError{Want: opts.Target, Is: inv.Target}
	}
	paths := desired.Paths()
	if err := checkClashes(paths); err != nil {
		return nil, err
	}
	c := &comparison{current: current, inv: inv, opts: opts, next: &Inventory{}, overwrite: map[string]bool{}}
	for _, p := range opts.Overwrite {
		c.overwrite[path.Clean(p)] = false
	}
	// Deletions come first, because a folder may take the place of a deleted file.
	for _, e := range inv.Files {
		if _, ok := desired.Get(e.Path); ok {
			continue
		}
		if err := c.leftover(e); err != nil {
			return nil, err
		}
	}
	c.unmarked()
	for _, p := range paths {
		f, _ := desired.Get(p)
		if err := c.file(f); err != nil {
			return nil, err
		}
	}
	if err := c.checkOverwrite(); err != nil {
		return nil, err
	}
	if err := c.inventory(); err != nil {
		return nil, err
	}
	return c.plan(), nil
}

// comparison collects the steps of a plan.
type comparison struct {
	current Reader
	inv     *Inventory
	opts    Options

	steps     []Step
	seen      []reliance // files that were read, in this order
	conflicts []Conflict
	left      []Left
	next      *Inventory
	deleted   map[string]bool
	// doubtful are files to delete that carry no mark, and markedDirs the folders of
	// files to delete that do.
	doubtful   []Step
	markedDirs map[string]bool
	// overwrite contains the paths of Options.Overwrite and whether each was needed.
	overwrite map[string]bool
	// overwritable are the paths that could have been in Options.Overwrite.
	overwritable []string
	shown        int
}

// read reads a file; the content of an empty file is not nil, that of a missing one is.
func (c *comparison) read(p string) ([]byte, error) {
	content, err := c.current.ReadFile(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.seen = append(c.seen, reliance{path: p})
	case err == nil:
		c.seen = append(c.seen, reliance{path: p, digest: Digest(content)})
		if content == nil {
			content = []byte{}
		}
	}
	return content, err
}

// file plans one desired file.
func (c *comparison) file(f File) error {
	if !f.Mode.Valid() {
		return fmt.Errorf("file %q has mode %q: the modes are %s", f.Path, f.Mode, knownModes())
	}
	if f.Content == nil {
		f.Content = []byte{}
	}
	entry, known := c.inv.Entry(f.Path)
	content, err := c.read(f.Path)
	var blocked *BlockedError
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.Mode == Once && known && !c.overwrites(f.Path):
		c.record(f, entry.Digest) // the user deleted the file
	case errors.Is(err, fs.ErrNotExist):
		c.write(Create, f, nil)
	case errors.As(err, &blocked):
		c.blocked(f, blocked, entry, known)
	case err != nil:
		return fmt.Errorf("comparing %q: %w", f.Path, err)
	case bytes.Equal(content, f.Content):
		digest := Digest(content)
		if f.Mode == Carried && known {
			// The inventory records the bytes that were written here, not later changes of the owner. Otherwise, a new encryption
			// of the same values would require a render.
			digest = entry.Digest
		}
		c.keep(f, digest)
	default:
		c.differing(f, content, entry, known)
	}
	return nil
}

// differing plans a desired file if the existing file has other bytes.
func (c *comparison) differing(f File, content []byte, entry Entry, known bool) {
	digest := Digest(content)
	switch {
	case (f.Mode == Managed && c.marked(f.Path, content) || f.Mode == Carried) && known && entry.Digest == digest,
		f.Mode == Adopted && c.opts.RewriteAdopted,
		c.overwrites(f.Path):
		c.write(Update, f, content)
	case f.Mode == Once || f.Mode == Adopted:
		c.steps = append(c.steps, Step{Path: f.Path, Action: Keep, Mode: f.Mode})
		if known {
			c.record(f, entry.Digest)
		}
	case sameYAML(f.Path, content, f.Content):
		// If both digests belong to an unedited file, keep the recorded one, so that formatting a file does not change the
		// inventory.
		if known && entry.Digest == Digest(f.Content) {
			digest = entry.Digest
		}
		c.keep(f, digest)
	case known && (f.Mode != Managed || entry.Digest != digest):
		c.conflict(Conflict{Path: f.Path, Kind: Edited, Current: content, Desired: f.Content})
		c.record(f, entry.Digest)
	default:
		c.conflict(Conflict{Path: f.Path, Kind: Foreign, Current: content, Desired: f.Content})
	}
}

// blocked plans a desired file if something other than a regular file is at its path, or above it.
func (c *comparison) blocked(f File, by *BlockedError, entry Entry, known bool) {
	if c.deleted[by.At] && by.At != f.Path {
		c.write(Create, f, nil)
		return
	}
	if known {
		c.record(f, entry.Digest)
	}
	if (f.Mode == Once || f.Mode == Adopted) && by.At == f.Path {
		c.steps = append(c.steps, Step{Path: f.Path, Action: Keep, Mode: f.Mode})
		return
	}
	c.conflicts = append(c.conflicts, Conflict{Path: f.Path, Kind: Blocked, At: by.At, What: by.What, Desired: f.Content})
}

// leftover plans a file in the inventory that is not desired any more.
func (c *comparison) leftover(e Entry) error {
	content, err := c.read(e.Path)
	var blocked *BlockedError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.As(err, &blocked):
		// If something of the user is above its path, the file is gone; if the file itself
		// became a link or a folder, that is the user's.
		if blocked.At == e.Path {
			c.conflicts = append(c.conflicts, Conflict{Path: e.Path, Kind: LeftBehind})
		}
		return nil
	case err != nil:
		return fmt.Errorf("comparing %q: %w", e.Path, err)
	}
	step := Step{Path: e.Path, Action: Delete, Mode: e.Mode, Old: content}
	switch ours := c.ours(e, content); {
	case neverOwned(e.Path):
		c.left = append(c.left, Left{Path: e.Path, Forged: true})
	case c.overwrites(e.Path), ours && e.Mode == Carried:
		c.remove(step)
	case e.Mode == Carried:
		c.left = append(c.left, Left{Path: e.Path})
	case !ours:
		c.conflict(Conflict{Path: e.Path, Kind: LeftBehind, Current: content})
	case c.marked(e.Path, content):
		c.remove(step)
		c.markDir(e.Path)
	default:
		c.doubtful = append(c.doubtful, step)
	}
	return nil
}

func (c *comparison) remove(step Step) {
	if c.deleted == nil {
		c.deleted = map[string]bool{}
	}
	c.deleted[step.Path] = true
	c.steps = append(c.steps, step)
}

// ours reports whether a file in the inventory is as we wrote it or, if it is carried, as we created it.
func (c *comparison) ours(e Entry, content []byte) bool {
	if e.Mode == Carried {
		return c.opts.Created != nil && c.opts.Created(content)
	}
	return e.Digest == Digest(content)
}

func (c *comparison) write(action Action, f File, old []byte) {
	c.steps = append(c.steps, Step{Path: f.Path, Action: action, Mode: f.Mode, Old: old, New: f.Content})
	c.record(f, Digest(f.Content))
}

func (c *comparison) keep(f File, digest string) {
	c.steps = append(c.steps, Step{Path: f.Path, Action: Keep, Mode: f.Mode})
	c.record(f, digest)
}

func (c *comparison) record(f File, digest string) {
	c.next.Files = append(c.next.Files, Entry{Path: f.Path, Mode: f.Mode, Digest: digest})
}

// conflict records a conflict that may be overwritten.
func (c *comparison) conflict(conflict Conflict) {
	if size := len(conflict.Current); size > maxShown || c.shown+size > maxShownTotal {
		conflict.Current = nil
	} else {
		c.shown += size
	}
	c.conflicts = append(c.conflicts, conflict)
}

// overwrites reports whether the user asked to overwrite a path that would otherwise be kept.
func (c *comparison) overwrites(p string) bool {
	c.overwritable = append(c.overwritable, p)
	_, asked := c.overwrite[p]
	if asked {
		c.overwrite[p] = true
	}
	return asked
}

// checkOverwrite returns an error for an Overwrite that is not needed.
func (c *comparison) checkOverwrite() error {
	for _, p := range slices.Sorted(maps.Keys(c.overwrite)) {
		if c.overwrite[p] {
			continue
		}
		for _, conflict := range c.conflicts {
			if conflict.Path == p {
				return fmt.Errorf("cannot overwrite %q: %s", p, conflict.Hint())
			}
		}
		if near, ok := nearest.To(p, c.overwritable); ok {
			return fmt.Errorf("cannot overwrite %q: it is not in conflict; did you mean %q?", p, near)
		}
		if len(c.overwritable) > 0 {
			return fmt.Errorf("cannot overwrite %q: it is not in conflict, but %q is", p, c.overwritable[0])
		}
		return fmt.Errorf("cannot overwrite %q: no file is in conflict", p)
	}
	return nil
}

// inventory plans the file of the inventory itself.
func (c *comparison) inventory() error {
	c.next.Target, c.next.Release = c.opts.Target, c.opts.Release
	c.next.Tenants, c.next.Guards = slices.Clone(c.opts.Tenants), slices.Clone(c.opts.Guards)
	c.next.sort()
	for i := range c.next.Tenants {
		if i > 0 && c.next.Tenants[i-1].Name == c.next.Tenants[i].Name {
			return fmt.Errorf("tenant %q is in the inventory twice", c.next.Tenants[i].Name)
		}
	}
	content, err := c.read(InventoryPath)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the inventory: %w", err)
	}
	empty := len(c.next.Files)+len(c.next.Tenants)+len(c.next.Guards) == 0
	step := Step{Path: InventoryPath, Old: content}
	switch {
	case empty && !exists:
		return nil
	case empty:
		step.Action = Delete
	case !exists:
		step.Action, step.New = Create, c.next.Encode()
	case c.next.Equal(c.inv):
		step.Action, step.Old = Keep, nil
		c.next.Release = c.inv.Release
	default:
		step.Action, step.New = Update, c.next.Encode()
	}
	c.steps = append(c.steps, step)
	return nil
}

// plan returns the sorted plan.
func (c *comparison) plan() *Plan {
	sorting.Func(c.steps, func(a, b Step) int { return strings.Compare(a.Path, b.Path) })
	sorting.Func(c.conflicts, func(a, b Conflict) int { return strings.Compare(a.Path, b.Path) })
	sorting.Func(c.left, func(a, b Left) int { return strings.Compare(a.Path, b.Path) })
	return &Plan{Steps: c.steps, Conflicts: c.conflicts, Left: c.left, RenderedBy: c.inv.Release, Inventory: c.next, relied: c.relied()}
}

// relied returns the files that the plan does not change and that do not belong to the user.
func (c *comparison) relied() []reliance {
	apart := map[string]bool{}
	for _, step := range c.steps {
		if step.Action != Keep || step.Mode == Once || step.Mode == Adopted {
			apart[step.Path] = true
		}
	}
	return slices.DeleteFunc(c.seen, func(r reliance) bool { return apart[r.path] })
}
