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
)

// Options say how a tree is compared.
type Options struct {
	// Overwrite lists files that are rewritten (or deleted, when no longer
	// generated) although they were edited, are in the way or the user's own.
	// It is an error to list a file that would not be left as it is otherwise.
	Overwrite []string
	// RewriteAdopted rewrites all files of mode Adopted.
	RewriteAdopted bool
	// Target is the name of the target, which the new inventory records. An
	// inventory of another target is a *TargetError.
	Target string
	// Release is the release of Fleetwright that the new inventory records, if the build is one.
	Release string
	// Tenants are the tenants' states that the new inventory records.
	Tenants []TenantState
	// Marked says whether content carries the mark that renders put into the files
	// that they own; nil takes all for marked. See owned.go.
	Marked func(file string, content []byte) bool
	// Made says whether a carried file is as Fleetwright made it, so that it may be
	// deleted when it is no longer generated; nil for none.
	Made func(content []byte) bool
}

// TargetError is about files of one target where another one was to be written:
// what the one holds would be taken for what the other no longer generates.
type TargetError struct{ Want, Is string }

func (e *TargetError) Error() string {
	return fmt.Sprintf("the files there are those of target %q, not of %q: %s says so", e.Is, e.Want, InventoryPath)
}

// maxShown is the size of the largest file that a Conflict shows, and
// maxShownTotal of all of them together: conflicts keep their bytes.
const (
	maxShown      = 1 << 20
	maxShownTotal = 64 << 20
)

// Compare plans how what is there becomes what was rendered. It changes nothing
// and reads only the paths of the desired tree and of the inventory. A file that
// cannot be written without losing the user's work becomes a conflict, and the
// rest of the plan goes on. Errors are paths that no folder can hold together, a
// wrong Overwrite, and what the reader cannot read.
//
// For each desired file, in this order:
//
//	nothing there           create
//	same bytes              keep; the inventory takes it over
//	mode once or adopted    keep, whatever it is; rewritten on request
//	mode carried            as managed, but the inventory keeps the digest of what
//	                        was written, where the file is what it was read from
//	bytes as we wrote them  update
//	same YAML, other style  keep: a formatter was there, nobody edited
//	in the inventory        conflict Edited; the inventory keeps the old digest,
//	                        so that the next run sees the edit too
//	otherwise               conflict Foreign
//
// A file of the inventory that is no longer desired is deleted when its bytes
// are as we wrote them, and it is one that a render writes; otherwise it is
// LeftBehind or Left. A carried one is deleted when we made it, and otherwise Left.
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
	// Deletions first: a file that goes may make room for a folder.
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

// comparison gathers a plan.
type comparison struct {
	current Reader
	inv     *Inventory
	opts    Options

	steps     []Step
	conflicts []Conflict
	left      []Left
	next      *Inventory
	deleted   map[string]bool
	// doubtful are files to delete that carry no mark, and markedDirs the folders of
	// those that do.
	doubtful   []Step
	markedDirs map[string]bool
	// overwrite holds the paths of Options.Overwrite and whether each was used.
	overwrite map[string]bool
	// overwritable are paths that could have been listed there.
	overwritable []string
	shown        int
}

// read reads a file; an empty one has bytes, unlike none.
func (c *comparison) read(p string) ([]byte, error) {
	content, err := c.current.ReadFile(p)
	if err == nil && content == nil {
		content = []byte{}
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
	case errors.Is(err, fs.ErrNotExist):
		c.write(Create, f, nil)
	case errors.As(err, &blocked):
		c.blocked(f, blocked, entry, known)
	case err != nil:
		return fmt.Errorf("comparing %q: %w", f.Path, err)
	case bytes.Equal(content, f.Content):
		digest := Digest(content)
		if f.Mode == Carried && known {
			// The inventory says what was written here, not what its owner
			// made of it: encrypting anew is no reason for a render.
			digest = entry.Digest
		}
		c.keep(f, digest)
	default:
		c.differing(f, content, entry, known)
	}
	return nil
}

// differing plans a desired file where a file with other bytes stands.
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
		// Of two digests that mean unedited, the recorded one stays, so that
		// formatting a file does not make the inventory stale.
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

// blocked plans a desired file where something else stands, or above it.
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

// leftover plans a file of the inventory that is no longer desired.
func (c *comparison) leftover(e Entry) error {
	content, err := c.read(e.Path)
	var blocked *BlockedError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.As(err, &blocked):
		// A file that gave way to something of the user's is gone; a file that
		// became a link or a folder is the user's.
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

// ours says whether a file of the inventory is as we wrote it or, carried, made it.
func (c *comparison) ours(e Entry, content []byte) bool {
	if e.Mode == Carried {
		return c.opts.Made != nil && c.opts.Made(content)
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

// conflict notes a conflict that may be overwritten.
func (c *comparison) conflict(conflict Conflict) {
	if size := len(conflict.Current); size > maxShown || c.shown+size > maxShownTotal {
		conflict.Current = nil
	} else {
		c.shown += size
	}
	c.conflicts = append(c.conflicts, conflict)
}

// overwrites reports whether the user asked to overwrite a path that would be
// left as it is otherwise.
func (c *comparison) overwrites(p string) bool {
	c.overwritable = append(c.overwritable, p)
	_, asked := c.overwrite[p]
	if asked {
		c.overwrite[p] = true
	}
	return asked
}

// checkOverwrite refuses an overwrite of what needs none.
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
			return fmt.Errorf("cannot overwrite %q: it is not in conflict; %q is", p, c.overwritable[0])
		}
		return fmt.Errorf("cannot overwrite %q: no file is in conflict", p)
	}
	return nil
}

// inventory plans the inventory's own file.
func (c *comparison) inventory() error {
	c.next.Target, c.next.Release = c.opts.Target, c.opts.Release
	c.next.Tenants = slices.Clone(c.opts.Tenants)
	c.next.sort()
	for i := range c.next.Tenants {
		if i > 0 && c.next.Tenants[i-1].Name == c.next.Tenants[i].Name {
			return fmt.Errorf("tenant %q stands twice in the inventory", c.next.Tenants[i].Name)
		}
	}
	content, err := c.read(InventoryPath)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the inventory: %w", err)
	}
	empty := len(c.next.Files) == 0 && len(c.next.Tenants) == 0
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

// plan sorts what was gathered.
func (c *comparison) plan() *Plan {
	slices.SortFunc(c.steps, func(a, b Step) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(c.conflicts, func(a, b Conflict) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(c.left, func(a, b Left) int { return strings.Compare(a.Path, b.Path) })
	return &Plan{Steps: c.steps, Conflicts: c.conflicts, Left: c.left, RenderedBy: c.inv.Release, Inventory: c.next}
}
