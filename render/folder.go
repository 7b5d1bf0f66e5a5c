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
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// FolderOptions are the options of ToFolders.
type FolderOptions struct {
	// Out is the folder to which every target is written, each in a folder of its own. If empty, the platform's
	// target is written in place, to Specification.Root.
	Out string
	// Check plans, but writes nothing.
	Check bool
	// Overwrite lists edited files to rewrite: paths in the platform's target,
	// or NAME/path in the target NAME.
	Overwrite []string
	// AllowRemoval lists what may be removed together with all data that this loses: cluster/NAME, addon/NAME, product/NAME,
	// product/NAME/KIND/NAME, tenant/NAME or secret/NAMESPACE/NAME.
	AllowRemoval []string
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
	// Missing are the folders of a tenant's target that Flux applies, and that it does not have.
	Missing []string
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

// generateOver generates the files of a render to folders, with regard to the existing files. It first completes or
// undoes an interrupted write to the platform's folder.
func generateOver(from *Specification, o FolderOptions) (*Rendered, tree.Recovery, error) {
	platform := placeOf(generators.PlatformTarget, from, o)
	if folder := filepath.Join(from.Root, SpecFolder); o.Out != "" && within(o.Out, folder) {
		return nil, tree.Recovery{}, advice.Input(
			fmt.Errorf("--out %q is inside the specification's folder, %q, where every YAML file is read as part of the specification", o.Out, folder),
			"name a folder outside of it",
		)
	}
	if err := plainOut(from.Root, o.Out); err != nil {
		return nil, tree.Recovery{}, err
	}
	recovery, err := recoverFolder(platform, o)
	if err != nil {
		return nil, recovery, err
	}
	g := GenerateOptions{PlatformOnly: o.Out == ""}
	for _, dir := range slices.Compact([]string{platform, from.Root}) {
		r, err := tree.OpenFolder(dir)
		if err != nil {
			return nil, recovery, err
		}
		defer r.Close()
		g.Platform = append(g.Platform, r)
		g.Secrets = append([]tree.Reader{r}, g.Secrets...)
	}
	rendered, err := Generate(from, g)
	return rendered, recovery, err
}

// compareFolders plans the update of each target's folder. recovery is the recovery of the platform's folder.
func compareFolders(r *Rendered, recovery tree.Recovery, o FolderOptions) ([]Planned, error) {
	for _, t := range r.Targets {
		if err := plainOut(r.Root, o.Out, t.Name); err != nil {
			return nil, err
		}
	}
	overwrite, err := splitOverwrite(o.Overwrite, r.Targets)
	if err != nil {
		return nil, err
	}
	planned := make([]Planned, len(r.Targets))
	errs := make([]error, len(r.Targets))
	var group sync.WaitGroup
	places := make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	for i, t := range r.Targets {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			p := &planned[i]
			*p = Planned{Target: t, Dir: placeOf(t.Name, r.Specification, o), Recovery: recovery}
			if t.Name != generators.PlatformTarget {
				p.Recovery, errs[i] = recoverFolder(p.Dir, o)
			}
			if errs[i] == nil {
				errs[i] = p.compare(r, overwrite[t.Name], o.AllowRemoval)
			}
		})
	}
	group.Wait()
	return planned, cmp.Or(errs...) // the first in order, so that the error is always the same
}

// applyFolders writes the plans: each folder completely or not at all.
func applyFolders(ctx context.Context, r *Rendered, planned []Planned, o FolderOptions) error {
	writes := make([]tree.Write, len(planned))
	for i, p := range planned {
		if err := plainOut(r.Root, o.Out, p.Target.Name); err != nil {
			return err
		}
		writes[i] = tree.Write{Dir: p.Dir, Plan: p.Plan}
	}
	return tree.ApplyAll(ctx, writes)
}

// placeOf returns the folder of a target.
func placeOf(target string, from *Specification, o FolderOptions) string {
	if o.Out == "" {
		return from.Root
	}
	return filepath.Join(o.Out, target)
}

// plainOut returns an error if the folder of --out, or of a target in it, is a symlink. It also checks the folders
// between --out and the root of the specification's repository, where somebody else may have created a link that leads
// anywhere. Links above the repository belong to the user.
func plainOut(source, out string, targets ...string) error {
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
	root, err := filepath.Abs(source)
	if err != nil {
		return err
	}
	for at := root; ; at = filepath.Dir(at) { // up to the root of the repository, on the path as written
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
			return advice.Input(fmt.Errorf("--out %q: %q is a symbolic link, which is not followed", out, at), "name the target of the link, or remove the link")
		}
	}
	return nil
}

// recoverFolder completes or undoes an interrupted write. With Check, it only looks for one.
func recoverFolder(dir string, o FolderOptions) (tree.Recovery, error) {
	if o.Check {
		return tree.Look(dir)
	}
	r, err := tree.Recover(dir)
	if err != nil {
		return r, fmt.Errorf("completing an interrupted write of %q: %w", dir, err)
	}
	return r, nil
}

// compare plans the update of a target's folder.
func (p *Planned) compare(rendered *Rendered, overwrite, allowRemoval []string) error {
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
	p.Missing = missing(p.Target, func(dir string) bool {
		info, err := os.Stat(filepath.Join(p.Dir, dir))
		return err == nil && info.IsDir()
	})
	p.Plan, err = Compare(rendered, p.Target, r, inv, overwrite, allowRemoval)
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
			return nil, advice.Input(fmt.Errorf("--overwrite %q matches no target", p), "write it as TARGET/path")
		}
	}
	return out, nil
}
