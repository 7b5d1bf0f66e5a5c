// Package generators generates file trees from a specification. It is pure: it does no I/O, reads no clock, and generates
// the same bytes from the same specification.
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

// Options are the inputs of a render besides the specification.
type Options struct {
	// FluxComponents is the content of gotk-components.yaml (Flux's own manifests). If nil, the existing file
	// stays.
	FluxComponents []byte
	// Adopted is the content of the adopted files that are already in the
	// platform repository (see AdoptedPaths).
	Adopted map[string][]byte
	// Secrets are the existing, encrypted files of declared Secrets (see SecretFiles). They are carried along
	// unchanged.
	Secrets map[string][]byte
	// Copied are the files of CopiedFolders that exist in the platform repository.
	Copied map[string][]byte
}

// PlatformTarget is the name of the platform's target.
const PlatformTarget = "platform"

// Render generates all targets of a specification: the platform's first, then those of the tenants by name. It fails if
// the specification needs gotk-components.yaml and neither opts.FluxComponents nor opts.Adopted contains it.
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

// Platform generates only the platform's target.
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
		p.generate(out, spec, lay, secrets, opts.Copied)
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

// SettingsComponent is the kustomize component with the specification's settings for a Flux that `flux
// bootstrap` installs.
const SettingsComponent = fleet.Settings

// SystemPaths returns the paths of the kustomizations in the platform's target that must name SettingsComponent. They are
// written once and then belong to the user. It returns none if the specification changes nothing in Flux.
func SystemPaths(spec *v1alpha1.Spec) []string { return fleet.SystemPaths(spec) }

// NamesSettings reports whether the text of a kustomization names SettingsComponent.
func NamesSettings(kustomization []byte) bool { return fleet.NamesSettings(kustomization) }

// SecretFile is the file of a declared Secret in the platform repository.
type SecretFile struct {
	Path   string
	Secret *v1alpha1.DeclaredSecret
	// Retired reports whether the Secret's tenant is Removed. Its file is kept, but no longer applied.
	Retired bool
	// Clusters are the sorted names of the clusters that apply it.
	Clusters []string
}

// SecretFiles returns the files of all declared Secrets, sorted by path, whether or not they exist. The caller
// passes the existing ones as Options.Secrets.
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

// AdoptedPaths returns the paths of the files in the platform's target that another tool also writes. The
// caller passes the existing ones as Options.Adopted.
func AdoptedPaths(spec *v1alpha1.Spec) []string { return fleet.AdoptedPaths(spec) }
