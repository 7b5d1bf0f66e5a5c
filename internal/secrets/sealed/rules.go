// Package sealed encrypts the files of folders in place, and updates the recipients of encrypted files.
// It never writes a value in plaintext, even if it fails: it replaces each file as a whole.
package sealed

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/regular"
	"github.com/fleetwright/fleetwright/internal/secrets"
)

// Rules finds the creation rules for files on disk.
type Rules struct {
	// configs maps folders to their .sops.yaml; nil for a folder without one.
	configs map[string]*found
	// specified returns the rules of the specification in a folder, which take precedence; nil for a folder without a
	// specification.
	specified func(dir string) (*secrets.Config, error)
	overruled map[string]bool
}

type found struct {
	// config is nil for a folder that has only a specification, and specified for a folder that has only a .sops.yaml.
	config, specified *secrets.Config
	// foreign reports whether the .sops.yaml was not generated.
	foreign bool
	err     error
}

// NewRules returns empty Rules, which read each .sops.yaml and each specification once.
func NewRules(specified func(dir string) (*secrets.Config, error)) *Rules {
	return &Rules{configs: map[string]*found{}, specified: specified, overruled: map[string]bool{}}
}

// Overruled returns the .sops.yaml files that were not generated, and that the specification overruled for at least one
// file.
func (r *Rules) Overruled() []string { return slices.Sorted(maps.Keys(r.overruled)) }

// ErrNoRule reports that no rule contains the recipients of a file.
type ErrNoRule struct {
	File string
	// Config is the .sops.yaml without a rule for the file, "" without a .sops.yaml.
	Config string
}

func (e *ErrNoRule) Error() string {
	if e.Config == "" {
		return fmt.Sprintf("%s: no .sops.yaml found in its folder or above", e.File)
	}
	return fmt.Sprintf("%s: no creation rule of %s matches it", e.File, e.Config)
}

// Hint returns how to fix the error.
func (e *ErrNoRule) Hint() string {
	if e.Config == "" {
		return "create one that names the recipients of the file, or let fleetwright render generate it from the specification's Encryption"
	}
	return "add a rule whose path_regex matches the file, or rename the file"
}

// ErrByNameOnly reports that a file looks like a secret, but that the first rule that matches it is for all paths. Such a
// file is encrypted only if the user names it.
type ErrByNameOnly struct{ File, Config string }

func (e *ErrByNameOnly) Error() string {
	return fmt.Sprintf("%s: in plaintext; its rule in %s matches all paths, so the file is encrypted only if it is named", e.File, e.Config)
}

// Hint returns how to fix the error.
func (e *ErrByNameOnly) Hint() string {
	return fmt.Sprintf("run \"fleetwright secrets encrypt %s\", or add a path_regex to the rule", e.File)
}

// ErrUnread reports that a file may contain a Secret but cannot be read.
type ErrUnread struct{ File, Why, Way string }

func (e *ErrUnread) Error() string {
	return fmt.Sprintf("%s: may contain a Secret in plaintext: it %s", output.Line(e.File), e.Why)
}

// Hint returns how to fix the error.
func (e *ErrUnread) Hint() string { return e.Way }

// unread returns the error for a file that may contain a Secret and can't be parsed, nil for other files.
func unread(file string, data []byte) error {
	err := secrets.Unread(file, data)
	if err == nil {
		return nil
	}
	way := err.Hint
	if way == "" {
		way = "correct the file and run the command again"
	}
	return &ErrUnread{File: file, Why: err.Message, Way: way}
}

// unreadLarge returns the error for a file that may contain a Secret and is too large to be encrypted, nil for other files.
func unreadLarge(file string) (err error) {
	f, err := regular.Open(file)
	if err != nil {
		return readError(file, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if !secrets.MayHoldSecret(file, f) {
		return nil
	}
	return &ErrUnread{File: file, Why: fmt.Sprintf("is larger than %d MB", limits.FileBytes>>20), Way: "split the file, or encrypt it with sops"}
}

// checkConfig returns an error unless sops can read a .sops.yaml completely.
func (r *Rules) checkConfig(file string) error {
	whole, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	f := r.in(filepath.Dir(whole))
	switch {
	case f == nil || f.err == nil && f.config == nil:
		return nil
	case f.err != nil:
		return f.err
	}
	return refused(f.config)
}

// refused returns the reason why sops refuses a configuration; nil if sops accepts it.
func refused(c *secrets.Config) error {
	if c.Err == nil {
		return nil
	}
	return fmt.Errorf("%s:%d:%d: %w", output.Line(c.File), c.Err.Line, c.Err.Column, c.Err)
}

// For returns the rule for a file, from the .sops.yaml in the file's folder or in the nearest folder above, as
// "sops --config" does, or from the specification that is rendered to that .sops.yaml, which may be outdated.
// file is the path as the user wrote it.
func (r *Rules) For(file string) (*secrets.CreationRule, *secrets.Config, error) {
	whole, err := filepath.Abs(file)
	if err != nil {
		return nil, nil, err
	}
	for dir := filepath.Dir(whole); ; dir = filepath.Dir(dir) {
		f := r.in(dir)
		if f != nil && f.err != nil {
			return nil, nil, f.err
		}
		if f != nil {
			below := strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(whole, dir)), "/")
			if f.specified != nil {
				if rule, config, err := ruleIn(f.specified, file, below); err == nil || f.config == nil {
					if f.foreign {
						r.overruled[f.specified.File] = true
					}
					return rule, config, err
				}
			}
			return ruleIn(f.config, file, below)
		}
		if dir == filepath.Dir(dir) {
			return nil, nil, &ErrNoRule{File: file}
		}
	}
}

func ruleIn(c *secrets.Config, file, below string) (*secrets.CreationRule, *secrets.Config, error) {
	for i := range c.Rules {
		if c.Rules[i].Matches(below) {
			return &c.Rules[i], c, nil
		}
	}
	if err := refused(c); err != nil {
		return nil, nil, err
	}
	return nil, nil, &ErrNoRule{File: file, Config: c.File}
}

// in returns the .sops.yaml and the specification of a folder, which it reads once; nil for a folder without both.
func (r *Rules) in(dir string) *found {
	if f, known := r.configs[dir]; known {
		return f
	}
	f := configIn(dir)
	specified, err := r.specified(named(dir))
	if f == nil && (specified != nil || err != nil) {
		f = &found{}
	}
	if f != nil {
		f.specified, f.err = specified, cmp.Or(f.err, err)
	}
	r.configs[dir] = f
	return f
}

// configIn reads the .sops.yaml of a folder; nil if it does not exist.
func configIn(dir string) *found {
	file := filepath.Join(dir, secrets.ConfigName)
	data, err := read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f := &found{err: err, foreign: !bytes.Contains(data, []byte(manifest.Header))}
	if err == nil {
		f.config, f.err = secrets.ParseConfig(named(file), data)
	}
	if f.err == nil {
		f.err = secrets.CheckConfig(named(file), data)
	}
	return f
}

// named returns the path of a file relative to the working directory, if it is below it.
func named(file string) string {
	if here, err := os.Getwd(); err == nil {
		if seen, err := filepath.Rel(here, file); err == nil && filepath.IsLocal(seen) {
			return filepath.ToSlash(seen)
		}
	}
	return filepath.ToSlash(file)
}

// read reads a regular file.
func read(file string) (data []byte, err error) {
	if inGit(file) {
		return nil, fmt.Errorf("%s: belongs to git", output.Line(file))
	}
	info, err := os.Lstat(file) // opening a pipe would wait for its other end
	if err != nil {
		return nil, readError(file, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a regular file", output.Line(file))
	}
	f, err := regular.Open(file)
	if err != nil {
		return nil, readError(file, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if data, err = io.ReadAll(io.LimitReader(f, limits.FileBytes+1)); err != nil {
		return nil, readError(file, err)
	}
	if len(data) > limits.FileBytes {
		return nil, tooLarge(file)
	}
	return data, nil
}

// inGit reports whether a file is in a .git folder.
func inGit(file string) bool {
	whole, err := filepath.Abs(file)
	return err == nil && slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(whole)), "/"), ".git")
}

func tooLarge(file string) error {
	return fmt.Errorf("%s: is larger than %d MB", output.Line(file), limits.FileBytes>>20)
}

// readError returns an error that begins with the file's name.
func readError(file string, err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return fmt.Errorf("%s: %w", output.Line(file), at.Err)
	}
	return fmt.Errorf("%s: %w", output.Line(file), err)
}
