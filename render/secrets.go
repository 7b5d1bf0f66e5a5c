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

// AbsentSecrets returns the declared Secrets that have no file yet, as of the last call of Targets or Platform,
// sorted by path. No generated file references them. "fleetwright secrets sync" creates their files.
func (s *Source) AbsentSecrets() []generators.SecretFile { return s.absent }

// UseSecrets sets the folder from which the files of declared Secrets are read if no other reader has them: the
// folder that contains the specification.
func (s *Source) UseSecrets(folder tree.Reader) { s.secrets = folder }

// readSecrets reads the existing files of declared Secrets. They are carried along unchanged. It returns an
// error if one is not encrypted.
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

// checkEncrypted returns an error if the file of a declared Secret is not encrypted.
func checkEncrypted(file string, content []byte) error {
	var clear *secrets.ClearError
	if err := secrets.CheckEncrypted(content); errors.As(err, &clear) {
		return &BadInput{
			Err:  fmt.Errorf("%s:%d:%d: %w", file, clear.Line, clear.Column, clear),
			Hint: "encrypt it: fleetwright secrets encrypt " + file + "; or delete it, and fleetwright secrets sync creates another one",
		}
	}
	return nil
}

// keepsSecrets returns an error if a stream was rendered without the files of declared Secrets that exist at
// the destination. Its kustomizations would not list them, and Flux would delete the Secrets.
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
				Err:  fmt.Errorf("%s: the stream was rendered without this file, and would remove Secret %s from its clusters", f.Path, f.Secret),
				Hint: "run kustomize in the folder that contains fleet/ and these files, or set spec.path to it (exec form): kustomize's items do not include these files",
			}
		}
	}
	return nil
}
