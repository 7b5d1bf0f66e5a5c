package render

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// AbsentSecrets are the declared Secrets that have no file yet, as Targets or
// Platform found it, sorted by path: nothing refers to them. "fleetwright secrets
// sync" makes the files.
func (s *Source) AbsentSecrets() []generators.SecretFile { return s.absent }

// UseSecrets reads the files of declared Secrets that are nowhere else from a
// folder, beside which the specification stands.
func (s *Source) UseSecrets(folder tree.Reader) { s.secrets = folder }

// readSecrets reads the files of declared Secrets that there are. They are
// carried along as they are; one that is not encrypted is refused, whoever would
// write or commit it.
func (s *Source) readSecrets(into map[string][]byte, platform []tree.Reader) error {
	s.absent = nil
	newest := slices.Clone(platform)
	slices.Reverse(newest)
	if s.secrets != nil {
		newest = append(newest, s.secrets)
	}
	for _, f := range generators.SecretFiles(s.Spec) {
		content, err := readFirst(newest, f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			if !f.Retired {
				s.absent = append(s.absent, f)
			}
			continue
		}
		if err != nil {
			return err
		}
		if err := checkEncrypted(f.Path, content); err != nil {
			return err
		}
		into[f.Path] = content
	}
	return nil
}

// checkEncrypted refuses a file of a declared Secret that is not encrypted.
func checkEncrypted(file string, content []byte) error {
	var clear *secrets.ClearError
	if err := secrets.CheckEncrypted(content); errors.As(err, &clear) {
		return &BadInput{
			Err:  fmt.Errorf("%s:%d:%d: %w", file, clear.Line, clear.Column, clear),
			Hint: "encrypt it: fleetwright secrets encrypt " + file + "; or take it away, and fleetwright secrets sync makes another",
		}
	}
	return nil
}

// keepsSecrets refuses a stream that was rendered without the files of declared
// Secrets which stand where it is written: its kustomizations would drop them, and
// Flux the Secrets.
func (s *Source) keepsSecrets(t tree.Target, current tree.Reader) error {
	if s.carriedSpec == nil || t.Name != generators.PlatformTarget {
		return nil
	}
	for _, f := range generators.SecretFiles(s.carriedSpec) {
		if _, carried := t.Tree.Get(f.Path); carried {
			continue
		}
		if _, err := current.ReadFile(f.Path); err == nil {
			return &BadInput{
				Err:  fmt.Errorf("%s: the stream was rendered without this file, and would drop Secret %s from its clusters", f.Path, f.Secret),
				Hint: "run kustomize in the folder with fleet/ and these files, or name it with spec.path (exec form): among kustomize's items there are none",
			}
		}
	}
	return nil
}
