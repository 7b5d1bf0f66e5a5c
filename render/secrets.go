package render

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// readSecrets reads the existing files of declared Secrets. It returns an error if one is not encrypted.
func readSecrets(spec *v1alpha1.Spec, from []tree.Reader) (map[string][]byte, error) {
	found := map[string][]byte{}
	for _, f := range generators.SecretFiles(spec) {
		content, err := readFirst(from, f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := checkEncrypted(f.Path, content); err != nil {
			return nil, err
		}
		found[f.Path] = content
	}
	return found, nil
}

// absentSecrets returns the declared Secrets without a file, sorted by path.
func absentSecrets(spec *v1alpha1.Spec, found map[string][]byte) []generators.SecretFile {
	return slices.DeleteFunc(generators.SecretFiles(spec), func(f generators.SecretFile) bool {
		_, exists := found[f.Path]
		return exists || f.Retired
	})
}

// checkEncrypted returns an error if the file of a declared Secret is not encrypted.
func checkEncrypted(file string, content []byte) error {
	var clear *secrets.ClearError
	if err := secrets.CheckEncrypted(content); errors.As(err, &clear) {
		return advice.Input(
			fmt.Errorf("%s:%d:%d: %w", file, clear.Line, clear.Column, clear),
			"encrypt it: fleetwright secrets encrypt "+file+"; or delete it, and fleetwright secrets sync creates another one",
		)
	}
	return nil
}

// keepsSecrets returns an error if a stream was rendered without the files of declared Secrets that exist at
// the destination. Its kustomizations would not list them, and Flux would delete the Secrets.
func keepsSecrets(r *Rendered, t tree.Target, current tree.Reader) error {
	if r.Stream == nil || r.Spec == nil {
		return nil
	}
	for _, f := range generators.SecretFiles(r.Spec) {
		if _, carried := t.Tree.Get(f.Path); carried {
			continue
		}
		if _, err := current.ReadFile(f.Path); err == nil {
			return advice.Input(
				fmt.Errorf("%s: the stream was rendered without this file, and would remove Secret %s from its clusters", f.Path, f.Secret),
				"run kustomize in the folder that contains fleet/ and these files, or set spec.path to it (exec form): kustomize's items do not include these files",
			)
		}
	}
	return nil
}
