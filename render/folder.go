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

// FolderOptions are the options of ToFolders.
type FolderOptions struct {
	// Out is the folder to which every target is written, each in a folder of its own. If empty, the platform's
	// target is written in place, to Source.Root.
	Out string
	// Check plans, but writes nothing.
	Check bool
	// Overwrite lists edited files to rewrite: paths in the platform's target,
	// or NAME/path in the target NAME.
	Overwrite []string
}

// Planned is a target with the plan that updates its folder or branch.
type Planned struct {
	Target tree.Target
	// Dir is the target's folder.
	Dir  string
	Plan *tree.Plan
	// Recovery describes what an interrupted write left in the folder.
	Recovery tree.Recovery
	// TakenOver reports whether a tenant's folder has its own content, and therefore gets no starter.
	TakenOver bool
}

// within reports whether a folder, which need not exist, is the same as another one or below it.
func within(folder, other string) bool {
	folder, err := filepath.Abs(folder)
	for ; err == nil && filepath.Dir(folder) != folder; folder = filepath.Dir(folder) {
		if sameFolder(folder, other) {
			return true
		}
	}
	return false
}

// ToFolders writes the rendered targets to folders and returns what it did. Each folder is written completely
// or not at all. When it writes in place, it skips the targets of tenants. It first completes or undoes an
// interrupted write.
func (s *Source) ToFolders(ctx context.Context, o FolderOptions) ([]Planned, error) {
	place := func(name string) string { return filepath.Join(o.Out, name) }
	if o.Out == "" {
		place = func(string) string { return s.Root }
	} else if folder := filepath.Join(s.Root, SpecFolder); s.Spec != nil && within(o.Out, folder) {
		return nil, &BadInput{
			Err:  fmt.Errorf("--out %q is inside the specification's folder, %q, where every YAML file is read as part of the specification", o.Out, folder),
			Hint: "name a folder outside of it",
		}
	}
	if err := s.plainOut(o.Out); err != nil {
		return nil, err
	}
	recoverFolder := recoverFolder
	if o.Check {
		recoverFolder = tree.Look
	}
	// The platform's folder is read for adopted files before it is rendered, so recover it first.
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
				errs[i] = s.planFolder(p, overwrite[t.Name])
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

// plainOut returns an error if the folder of --out, or of a target in it, is a symbolic link. It also checks
// the folders between --out and the root of the specification's repository: a link there may come from somebody
// else and lead anywhere. Links above the repository belong to the user.
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
			return &BadInput{Err: fmt.Errorf("--out %q: %q is a symbolic link, which is not followed", out, at), Hint: "name the target of the link, or remove the link"}
		}
	}
	return nil
}

// recoverFolder completes or undoes an interrupted write.
func recoverFolder(dir string) (tree.Recovery, error) {
	r, err := tree.Recover(dir)
	if err != nil {
		return r, fmt.Errorf("completing an interrupted write of %q: %w", dir, err)
	}
	return r, nil
}

// targetsFor renders the targets that are written to folders.
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
			Err:  fmt.Errorf("the stream contains no target %q", generators.PlatformTarget),
			Hint: "write the other targets with --out OUT",
		}
	}
	return targets, nil
}

// planFolder plans the update of a target's folder.
func (s *Source) planFolder(p *Planned, overwrite []string) error {
	r, err := tree.OpenFolder(p.Dir)
	if err != nil {
		return err
	}
	defer r.Close()
	inv, err := readInventory(inFolder(p.Dir), r)
	if err != nil {
		return err
	}
	if err := p.takeOver(inv, r, overwrite); err != nil {
		return err
	}
	p.Plan, err = s.Plan(p.Target, r, inv, overwrite)
	return err
}

// splitOverwrite splits the paths to overwrite by target.
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
			return nil, &BadInput{Err: fmt.Errorf("--overwrite %q matches no target", p), Hint: "write it as TARGET/path"}
		}
	}
	return out, nil
}
