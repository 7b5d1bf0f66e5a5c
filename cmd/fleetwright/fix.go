package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/render"
	"github.com/fleetwright/fleetwright/internal/splice"
	"github.com/fleetwright/fleetwright/validators"
)

// mostRounds bounds how often what a fix uncovers is fixed too.
const mostRounds = 5

// fix mends the findings whose fix is certain, until there is none left, and makes the report
// of what is left.
func (v *validation) fix(ctx context.Context, o validators.Options) error {
	fixed, changed := 0, map[string]bool{}
	for range mostRounds {
		var fixes []*finding.Fix
		for _, f := range v.report.Findings {
			if f.Fix != nil {
				fixes = append(fixes, f.Fix)
			}
		}
		result, err := splice.Apply(v.repo.ReadFile, fixes)
		if err != nil {
			return err
		}
		if result.Done == 0 {
			break
		}
		if err := rewrite(v.dir, result.Files); err != nil {
			return &render.BadInput{Err: fmt.Errorf("--fix: %w", err), Hint: "the files before it in the order of their paths are mended; run it again once this one can be written"}
		}
		fixed += result.Done
		for file := range result.Files {
			changed[file] = true
		}
		if v.repo, err = loadRepository(v.dir); err != nil {
			return err
		}
		if err := v.check(ctx, o); err != nil {
			return err
		}
	}
	if fixed == 0 {
		return nil
	}
	out := v.err
	if v.flags.format == formatText {
		out = v.out
	}
	_, err := fmt.Fprintf(out, "%s fixed in %s\n", finding.Count(fixed, "finding"), finding.Count(len(changed), "file"))
	return err
}

// rewrite replaces files in a folder, each as a whole or not at all, with its mode. It never
// leaves the folder, nor follows a link.
func rewrite(dir string, files map[string][]byte) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := rewriteOne(root, name, files[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func rewriteOne(root *os.Root, name string, content []byte) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("is not a regular file")
	}
	temp := path.Join(path.Dir(name), "."+path.Base(name)+".fleetwright")
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("another run is writing it, or was cut off: remove %s", temp)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(info.Mode().Perm()), file.Sync(), file.Close())
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}
