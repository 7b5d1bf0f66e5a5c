// Package sealed encrypts the files of folders in place, and gives encrypted ones to others.
// What it writes holds no value in plaintext, whatever happens: a file is replaced as a whole.
package sealed

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/regular"
	"github.com/fleetwright/fleetwright/internal/secrets"
)

// Rules finds the creation rules of files on disk.
type Rules struct {
	// configs by their folders: nil for a folder without one.
	configs map[string]*found
}

type found struct {
	config *secrets.Config
	err    error
}

// NewRules makes an empty one, which reads each .sops.yaml once.
func NewRules() *Rules { return &Rules{configs: map[string]*found{}} }

// ErrNoRule says that nothing tells who shall read a file.
type ErrNoRule struct {
	File string
	// Config is the .sops.yaml that has no rule for the file, "" where there is none.
	Config string
}

func (e *ErrNoRule) Error() string {
	if e.Config == "" {
		return fmt.Sprintf("%s: no .sops.yaml stands in its folder or above", e.File)
	}
	return fmt.Sprintf("%s: no creation rule of %s is for it", e.File, e.Config)
}

// Hint is the way out.
func (e *ErrNoRule) Hint() string {
	if e.Config == "" {
		return "write one with who shall read the file, or let fleetwright render write it from the specification's Encryption"
	}
	return "add a rule whose path_regex matches the file, or rename the file"
}

// ErrByNameOnly says that a file looks like a secret, and that a rule for all paths is the first that
// matches it, which is for the files that are named to be encrypted.
type ErrByNameOnly struct{ File, Config string }

func (e *ErrByNameOnly) Error() string {
	return fmt.Sprintf("%s: is in plaintext, and its rule in %s is for all paths: it is not encrypted unless it is named", e.File, e.Config)
}

// Hint is the way out.
func (e *ErrByNameOnly) Hint() string {
	return fmt.Sprintf("encrypt it by name, with \"fleetwright secrets encrypt %s\", or give the rule a path_regex", e.File)
}

// ErrUnread says that a file may hold a Secret, and that it can't be read.
type ErrUnread struct{ File, Why, Way string }

func (e *ErrUnread) Error() string {
	return fmt.Sprintf("%s: may hold a Secret in plaintext: it %s", output.Line(e.File), e.Why)
}

// Hint is the way out.
func (e *ErrUnread) Hint() string { return e.Way }

// unread is the error of a file that may hold a Secret and can't be parsed, nil for others.
func unread(file string, data []byte) error {
	err := secrets.Unread(file, data)
	if err == nil {
		return nil
	}
	way := err.Hint
	if way == "" {
		way = "correct the file, then run it again"
	}
	return &ErrUnread{File: file, Why: err.Message, Way: way}
}

// unreadLarge is the error of a file that may hold a Secret and is too large to be encrypted, nil for others.
func unreadLarge(file string) (err error) {
	f, err := regular.Open(file)
	if err != nil {
		return readError(file, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if !secrets.MayHoldSecret(file, f) {
		return nil
	}
	return &ErrUnread{File: file, Why: fmt.Sprintf("is larger than %d MB", mostBytes>>20), Way: "split the file, or encrypt it with sops"}
}

// sound is nil for a .sops.yaml that sops can read from its beginning to its end.
func (r *Rules) sound(file string) error {
	whole, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	f := r.in(filepath.Dir(whole))
	switch {
	case f == nil:
		return nil
	case f.err != nil:
		return f.err
	}
	return refused(f.config)
}

// refused is why sops refuses a configuration, nil where it doesn't.
func refused(c *secrets.Config) error {
	if c.Err == nil {
		return nil
	}
	return fmt.Errorf("%s:%d:%d: %w", output.Line(c.File), c.Err.Line, c.Err.Column, c.Err)
}

// For is the rule of a file, in the .sops.yaml of the file's folder or of the nearest above: as
// in "sops --config". The rule says where it stands; the file is as the caller names it.
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
			return ruleIn(f.config, file, strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(whole, dir)), "/"))
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

// in reads the .sops.yaml of a folder, once; nil where there is none.
func (r *Rules) in(dir string) *found {
	if f, known := r.configs[dir]; known {
		return f
	}
	r.configs[dir] = nil
	file := filepath.Join(dir, secrets.ConfigName)
	data, err := read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f := &found{err: err}
	if err == nil {
		f.config, f.err = secrets.ParseConfig(named(file), data)
	}
	if f.err == nil {
		f.err = secrets.CheckConfig(named(file), data)
	}
	r.configs[dir] = f
	return f
}

// named is a file as seen from the working directory, where it is below it.
func named(file string) string {
	if here, err := os.Getwd(); err == nil {
		if seen, err := filepath.Rel(here, file); err == nil && filepath.IsLocal(seen) {
			return filepath.ToSlash(seen)
		}
	}
	return filepath.ToSlash(file)
}

// mostBytes is the size of the largest file that is encrypted.
const mostBytes = 10 << 20

// read reads a regular file.
func read(file string) (data []byte, err error) {
	if inGit(file) {
		return nil, fmt.Errorf("%s: is git's own", output.Line(file))
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
	if data, err = io.ReadAll(io.LimitReader(f, mostBytes+1)); err != nil {
		return nil, readError(file, err)
	}
	if len(data) > mostBytes {
		return nil, tooLarge(file)
	}
	return data, nil
}

// inGit says whether a file lies in a folder .git, which is git's own.
func inGit(file string) bool {
	whole, err := filepath.Abs(file)
	return err == nil && slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(whole)), "/"), ".git")
}

func tooLarge(file string) error {
	return fmt.Errorf("%s: is larger than %d MB", output.Line(file), mostBytes>>20)
}

// readError puts the file's name first.
func readError(file string, err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return fmt.Errorf("%s: %w", output.Line(file), at.Err)
	}
	return fmt.Errorf("%s: %w", output.Line(file), err)
}
