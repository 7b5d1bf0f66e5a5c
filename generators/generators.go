// Package generators turns a specification into file trees. It is pure: it does
// no I/O, reads no clock, and the same specification gives the same bytes.
package generators

import (
	"fmt"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/fleet"
	"github.com/fleetwright/fleetwright/generators/tenant"
	"github.com/fleetwright/fleetwright/internal/encryption"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/layout/secret"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// Options are what a render knows beside the specification.
type Options struct {
	// FluxComponents is the content for gotk-components.yaml (Flux's own
	// manifests); nil keeps what is there.
	FluxComponents []byte
	// Adopted is the content of the adopted files that are already in the
	// platform repository (see AdoptedPaths).
	Adopted map[string][]byte
	// Secrets are the files of declared Secrets that there are (see
	// SecretFiles), encrypted: they are carried along as they are.
	Secrets map[string][]byte
}

// PlatformTarget is the name of the platform's target.
const PlatformTarget = "platform"

// Render generates all targets of a specification: the platform's first, then
// those of the tenants by name. It fails when Flux's manifests are needed and
// are neither given nor there.
func Render(spec *v1alpha1.Spec, opts Options) ([]tree.Target, error) {
	platform, err := Platform(spec, opts)
	if err != nil {
		return nil, err
	}
	tenants, err := tenant.Targets(spec)
	if err != nil {
		return nil, fmt.Errorf("generating the tenants' repositories: %w", err)
	}
	return append([]tree.Target{platform}, tenants...), nil
}

// Platform generates the platform's target alone.
func Platform(spec *v1alpha1.Spec, opts Options) (tree.Target, error) {
	lay := layout.For(spec.Fleet.Spec.Layout)
	out := emit.New()
	var secrets []secret.Placed
	for _, s := range secret.Places(spec, lay) {
		if content, there := opts.Secrets[s.File]; there {
			out.Text(s.File, tree.Carried, content)
			secrets = append(secrets, s)
		}
	}
	fleet.Generate(out, spec, lay, fleet.Options{
		FluxComponents: opts.FluxComponents, Adopted: opts.Adopted, Secrets: secrets, Products: bootstrappedBy(spec, lay),
	})
	for _, p := range platforms {
		p.generate(out, spec, lay, secrets)
	}
	tenant.Platform(out, spec, lay, secrets)
	config, err := encryption.Platform(spec)
	out.Fail(err)
	out.Text(encryption.File, tree.Managed, config)
	out.Ignore()
	if err := out.Err(); err != nil {
		return tree.Target{}, fmt.Errorf("generating the platform repository: %w", err)
	}
	repository := spec.Fleet.Spec.Repository
	return tree.Target{Name: PlatformTarget, URL: repository.URL, Branch: repository.Branch, Tree: out.Tree}, nil
}

// SettingsComponent is the kustomize component that holds what a specification changes
// in a Flux that `flux bootstrap` installs.
const SettingsComponent = fleet.Settings

// SystemPaths are the kustomizations of the platform's target, written once, that must
// name SettingsComponent; there are none where the specification changes nothing.
func SystemPaths(spec *v1alpha1.Spec) []string { return fleet.SystemPaths(spec) }

// NamesSettings reports whether the text of a kustomization names SettingsComponent.
func NamesSettings(kustomization []byte) bool { return fleet.NamesSettings(kustomization) }

// SecretFile is the file of a declared Secret in the platform repository.
type SecretFile struct {
	Path   string
	Secret *v1alpha1.DeclaredSecret
	// Retired says that the Secret's tenant is Removed: its file is kept, and no
	// longer applied.
	Retired bool
	// Clusters that apply it, by name, sorted.
	Clusters []string
}

// SecretFiles are the files of all declared Secrets, sorted by path, whether they
// are there or not; a caller reads those that are into Options.Secrets.
func SecretFiles(spec *v1alpha1.Spec) []SecretFile {
	var out []SecretFile
	for _, s := range secret.Places(spec, layout.For(spec.Fleet.Spec.Layout)) {
		f := SecretFile{Path: s.File, Secret: s.Secret, Retired: s.Retired}
		for _, c := range s.Clusters {
			f.Clusters = append(f.Clusters, c.Metadata.Name)
		}
		out = append(out, f)
	}
	return out
}

// AdoptedPaths are the files of the platform's target that another tool writes
// too; a caller reads those that exist into Options.Adopted.
func AdoptedPaths(spec *v1alpha1.Spec) []string { return fleet.AdoptedPaths(spec) }
