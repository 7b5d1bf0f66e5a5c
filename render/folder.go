package render

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// FolderOptions say how targets are written to folders.
type FolderOptions struct {
	// Out takes every target, in a folder of its own; empty writes the
	// platform's target in place, to Source.Root.
	Out string
	// Check plans and writes nothing.
	Check bool
	// Overwrite lists edited files to rewrite: paths in the platform's target,
	// or NAME/path in the target NAME.
	Overwrite []string
}

// Planned is a target and what was done, or would be, to bring a folder or a
// branch to it.
type Planned struct {
	Target tree.Target
	// Dir is the target's folder.
	Dir  string
	Plan *tree.Plan
	// Recovery says what an interrupted write left in the folder.
	Recovery tree.Recovery
}

// within says whether a folder, which need not exist, is another one or below it.
func within(folder, other string) bool {
	folder, err := filepath.Abs(folder)
	for ; err == nil && filepath.Dir(folder) != folder; folder = filepath.Dir(folder) {
		if sameFolder(folder, other) {
			return true
		}
	}
	return false
}

// ToFolders brings folders to the rendered targets, each all or nothing, and
// returns what it did. In place, the targets that have no place are left out. A
// write that was cut off is completed or taken back first.
func (s *Source) ToFolders(ctx context.Context, o FolderOptions) ([]Planned, error) {
	place := func(name string) string { return filepath.Join(o.Out, name) }
	if o.Out == "" {
		place = func(string) string { return s.Root }
	} else if folder := filepath.Join(s.Root, SpecFolder); s.Spec != nil && within(o.Out, folder) {
		return nil, &BadInput{
			Err:  fmt.Errorf("--out %q is in the specification's folder, %q, where every YAML file is read as one of its own", o.Out, folder),
			Hint: "name a folder beside it",
		}
	}
	if err := s.plainOut(o.Out); err != nil {
		return nil, err
	}
	recoverFolder := recoverFolder
	if o.Check {
		recoverFolder = tree.Look
	}
	// The platform's folder is read for what is adopted before it is rendered.
	recovery, err := recoverFolder(place(generators.PlatformTarget))
	if err != nil {
		return nil, err
	}
	targets, err := s.targetsFor(o, place(generators.PlatformTarget))
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		if err := s.plainOut(o.Out, t.Name); err != nil {
			return nil, err
		}
	}
	overwrite, err := splitOverwrite(o.Overwrite, targets)
	if err != nil {
		return nil, err
	}
	planned := make([]Planned, len(targets))
	errs := make([]error, len(targets))
	var group sync.WaitGroup
	places := make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	for i, t := range targets {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			p := &planned[i]
			*p = Planned{Target: t, Dir: place(t.Name), Recovery: recovery}
			if t.Name != generators.PlatformTarget {
				p.Recovery, errs[i] = recoverFolder(p.Dir)
			}
			if errs[i] == nil {
				p.Plan, errs[i] = s.planFolder(t, p.Dir, overwrite[t.Name])
			}
		})
	}
	group.Wait()
	if err := cmp.Or(errs...); err != nil { // the first in order, so that runs agree
		return nil, err
	}
	if o.Check {
		return planned, nil
	}
	writes := make([]tree.Write, len(planned))
	for i, p := range planned {
		if err := s.plainOut(o.Out, p.Target.Name); err != nil {
			return nil, err
		}
		writes[i] = tree.Write{Dir: p.Dir, Plan: p.Plan}
	}
	return planned, tree.ApplyAll(ctx, writes)
}

// plainOut refuses a folder of --out, or of a target in it, that a symbolic link leads to. A link above
// is the user's own; but one in --out, or above it in the repository of the specification, comes with
// what is rendered, and may lead anywhere.
func (s *Source) plainOut(out string, targets ...string) error {
	if out == "" {
		return nil
	}
	whole, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	var checked []string
	for _, name := range targets {
		checked = append(checked, filepath.Join(whole, name))
	}
	root, err := filepath.Abs(s.Root)
	if err != nil {
		return err
	}
	for at := root; ; at = filepath.Dir(at) { // of the repository as its path is written
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			root = at
			break
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if below, err := filepath.Rel(root, whole); err == nil && filepath.IsLocal(below) {
		for at := whole; at != root && at != filepath.Dir(at); at = filepath.Dir(at) {
			checked = append(checked, at)
		}
	}
	for _, at := range checked {
		info, err := os.Lstat(at)
		if err == nil && info.Mode()&os.ModeSymlink != 0 {
			return &BadInput{Err: fmt.Errorf("--out %q: %q is a symbolic link, and is not followed", out, at), Hint: "name the folder that it leads to, or remove the link"}
		}
	}
	return nil
}

// recoverFolder completes or takes back a write that was cut off.
func recoverFolder(dir string) (tree.Recovery, error) {
	r, err := tree.Recover(dir)
	if err != nil {
		return r, fmt.Errorf("completing an interrupted write of %q: %w", dir, err)
	}
	return r, nil
}

// targetsFor renders what goes to folders.
func (s *Source) targetsFor(o FolderOptions, platformDir string) ([]tree.Target, error) {
	var readers []tree.Reader
	for _, dir := range slices.Compact([]string{platformDir, s.Root}) {
		r, err := tree.OpenFolder(dir)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		readers = append(readers, r)
	}
	if o.Out != "" {
		return s.Targets(readers...)
	}
	if s.Spec != nil {
		t, err := s.Platform(readers...)
		return []tree.Target{t}, err
	}
	targets := slices.DeleteFunc(slices.Clone(s.targets), func(t tree.Target) bool { return t.Name != generators.PlatformTarget })
	if len(targets) == 0 {
		return nil, &BadInput{
			Err:  fmt.Errorf("the stream holds no target %q", generators.PlatformTarget),
			Hint: "write the other targets with --out OUT",
		}
	}
	return targets, nil
}

func (s *Source) planFolder(t tree.Target, dir string, overwrite []string) (*tree.Plan, error) {
	r, err := tree.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	inv, err := readInventory(inFolder(dir), r)
	if err != nil {
		return nil, err
	}
	return s.Plan(t, r, inv, overwrite)
}

// splitOverwrite gives each target its share of the paths.
func splitOverwrite(paths []string, targets []tree.Target) (map[string][]string, error) {
	out := map[string][]string{}
	for _, p := range paths {
		p = strings.TrimPrefix(filepath.ToSlash(p), "./")
		first, rest, found := strings.Cut(p, "/")
		at := slices.IndexFunc(targets, func(t tree.Target) bool { return t.Name == first })
		switch {
		case found && at >= 0:
			out[first] = append(out[first], rest)
		case slices.ContainsFunc(targets, func(t tree.Target) bool { return t.Name == generators.PlatformTarget }):
			out[generators.PlatformTarget] = append(out[generators.PlatformTarget], p)
		default:
			return nil, &BadInput{Err: fmt.Errorf("--overwrite %q belongs to no target", p), Hint: "name it TARGET/path"}
		}
	}
	return out, nil
}
