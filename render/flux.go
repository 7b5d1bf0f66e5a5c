package render

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fluxcd/flux2/v2/pkg/manifestgen/install"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/advice"
)

// Limits for a folder of Flux's manifests; the one of Flux 2.9 has 10 files and 700 kB.
const (
	maxManifestFiles = 100
	maxManifestBytes = 10 << 20
)

// FluxComponents generates gotk-components.yaml, as `flux install --export` does. It reads Flux's manifests from a
// folder, the unpacked manifests.tar.gz of a release, and does not write to it. The Fleet sets the version, the
// components and the registry. It downloads nothing. It returns nil without a folder, or if the specification does not
// install Flux with flux bootstrap.
func FluxComponents(spec *v1alpha1.Spec, dir string) ([]byte, error) {
	flux := spec.Fleet.Spec.Flux
	if dir == "" || flux.Install != v1alpha1.InstallBootstrap {
		return nil, nil
	}
	// The generator writes its overlay into the folder with the manifests.
	base, err := os.MkdirTemp("", "fleetwright-flux-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(base)
	if base, err = filepath.EvalSymlinks(base); err != nil { // Flux's library resolves links and writes only below the real path
		return nil, err
	}
	copied, err := copyManifests(dir, base)
	if err != nil {
		return nil, err
	}
	for _, need := range append(slices.Clone(flux.Components), "rbac", "policies") {
		if !slices.Contains(copied, need+".yaml") {
			return nil, advice.Input(
				fmt.Errorf("%q contains no %q", dir, need+".yaml"),
				"--flux-manifests needs the unpacked manifests.tar.gz of a Flux release (https://github.com/fluxcd/flux2/releases)",
			)
		}
	}
	o := install.MakeDefaultOptions()
	o.Version = "v" + strings.TrimPrefix(flux.Version, "v")
	o.Components = flux.Components
	o.Registry = flux.Registry
	generated, err := install.Generate(o, base)
	if err != nil {
		return nil, fmt.Errorf("generating Flux's manifests from %q: %w", dir, err)
	}
	return []byte(generated.Content), nil
}

// copyManifests copies the YAML files of a folder, and returns their names.
func copyManifests(from, to string) ([]string, error) {
	dir, err := os.OpenRoot(from)
	if err != nil {
		return nil, advice.Input(fmt.Errorf("reading Flux's manifests: %w", err), "")
	}
	defer dir.Close()
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil, advice.Input(fmt.Errorf("reading Flux's manifests: %w", err), "")
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() || !hasYAMLName(e.Name()) {
			continue
		}
		if len(names) == maxManifestFiles {
			return nil, advice.Input(fmt.Errorf("%q contains more than %d YAML files: these are not the Flux manifests", from, maxManifestFiles), "")
		}
		content, err := readRegular(dir, e.Name(), maxManifestBytes+1)
		if err == nil && len(content) > maxManifestBytes {
			err = errors.New("it is larger than 10 MB")
		}
		if err != nil {
			return nil, advice.Input(fmt.Errorf("%s: %w", filepath.Join(from, e.Name()), cause(err)), "")
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), content, 0o600); err != nil {
			return nil, err
		}
		names = append(names, e.Name())
	}
	return names, nil
}
