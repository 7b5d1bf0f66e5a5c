// Package render turns a specification into files. All commands and functions that render use it. It reads the
// specification, or a stream that the KRM function rendered from one, renders its targets, and updates folders
// and branches with them.
package render

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/strict"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/internal/version"
	"github.com/fleetwright/fleetwright/render/removal"
)

// Source is what targets are rendered from: a specification, or a stream of rendered files.
type Source struct {
	// Root is the folder of the platform's target.
	Root string
	// Spec is the specification; nil for a stream, which has rendered files.
	Spec *v1alpha1.Spec
	// Files are the specification's files, relative to Root.
	Files []specs.File
	// Tenants are the tenants' states, sorted by name.
	Tenants []tree.TenantState
	// Guards name what a later render may remove only on request, sorted.
	Guards []string
	// AllowRemoval are what may be removed with all that is lost: cluster/NAME, addon/NAME, product/NAME,
	// product/NAME/KIND/NAME, tenant/NAME or secret/NAMESPACE/NAME.
	AllowRemoval []string

	components []byte // gotk-components.yaml, if it was requested
	// secrets reads the files of declared Secrets that no other reader has; it may be nil. absent are the
	// declared Secrets without a file.
	secrets tree.Reader
	absent  []generators.SecretFile
	// targets, for a stream, are its targets. carriedSpec is the specification that they were rendered from;
	// nil if the stream has none.
	targets     []tree.Target
	carriedSpec *v1alpha1.Spec
}

// FromFolder reads the specification in a folder. fluxManifests, if not empty, is a folder with Flux's
// manifests. It is read if the specification installs Flux with flux bootstrap.
func FromFolder(dir, fluxManifests string) (*Source, error) {
	read, err := ReadSpecification(dir)
	if err != nil {
		return nil, err
	}
	s := FromSpec(read.Spec)
	s.Root, s.Files = read.Root, read.Files
	if fluxManifests != "" && read.Spec.Fleet.Spec.Flux.Install == v1alpha1.InstallBootstrap {
		if s.components, err = FluxComponents(read.Spec, fluxManifests); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// FromSpec returns a source for a loaded specification.
func FromSpec(spec *v1alpha1.Spec) *Source {
	s := &Source{Spec: spec, Guards: generators.Guards(spec)}
	for _, t := range spec.Tenants {
		s.Tenants = append(s.Tenants, tree.TenantState{Name: t.Metadata.Name, State: string(t.Spec.State)})
	}
	return s
}

// UseFluxManifests does what FromFolder does with its second parameter.
func (s *Source) UseFluxManifests(dir string) (err error) {
	if s.Spec.Fleet.Spec.Flux.Install == v1alpha1.InstallBootstrap {
		s.components, err = FluxComponents(s.Spec, dir)
	}
	return err
}

// Targets renders the targets: the platform's first, then those of the tenants by name. Adopted files are read
// from the first of the readers that has them. The encrypted files of declared Secrets are read from the last
// one: the folder of the specification, where they are created.
func (s *Source) Targets(platform ...tree.Reader) ([]tree.Target, error) {
	if s.Spec == nil {
		return s.targets, nil
	}
	o, err := s.options(platform)
	if err != nil {
		return nil, err
	}
	return bounds.Whole(renderingUnit, func() ([]tree.Target, error) { return generators.Render(s.Spec, o) })
}

var renderingUnit = bounds.Unit{Kind: "rendering", Name: "the specification"}

// Platform renders only the platform's target; see Targets.
func (s *Source) Platform(platform ...tree.Reader) (tree.Target, error) {
	o, err := s.options(platform)
	if err != nil {
		return tree.Target{}, err
	}
	return bounds.Whole(renderingUnit, func() (tree.Target, error) { return generators.Platform(s.Spec, o) })
}

func (s *Source) options(platform []tree.Reader) (generators.Options, error) {
	o := generators.Options{FluxComponents: s.components, Adopted: map[string][]byte{}, Secrets: map[string][]byte{}}
	if err := s.checkSystem(platform); err != nil {
		return o, err
	}
	if err := s.readSecrets(o.Secrets, platform); err != nil {
		return o, err
	}
	var err error
	if o.Copied, err = s.copied(platform); err != nil || s.components != nil {
		return o, err
	}
	for _, name := range generators.AdoptedPaths(s.Spec) {
		content, err := readFirst(platform, name)
		if errors.Is(err, fs.ErrNotExist) {
			return o, &BadInput{
				Err: fmt.Errorf("%s does not exist, but the specification installs Flux by bootstrap", name),
				Hint: "run \"flux bootstrap\" first, whose files are kept; or write the file with flux install --version=v" +
					strings.TrimPrefix(s.Spec.Fleet.Spec.Flux.Version, "v") + " --export > " + name + "; or pass the Flux manifests with --flux-manifests DIR, in a functionConfig as spec.fluxManifests (the unpacked manifests.tar.gz of a Flux release)",
			}
		}
		if err != nil {
			return o, err
		}
		o.Adopted[name] = content
	}
	return o, nil
}

// copied returns the files of the folders that the specification expects at the destination of the platform's
// target. It reads them from the first of the readers.
func (s *Source) copied(platform []tree.Reader) (map[string][]byte, error) {
	found := map[string][]byte{}
	for _, folder := range generators.CopiedFolders(s.Spec) {
		asked := map[string]bool{}
		for files, first := folder.Files, folder.Files[0]; len(files) > 0; files = files[1:] {
			file := files[0]
			if asked[file] {
				continue
			}
			asked[file] = true
			content, err := readFirst(platform[:min(1, len(platform))], file)
			switch {
			case err == nil:
				found[file] = content
				files = append(files, folder.Listed(file, content)...)
			case !errors.Is(err, fs.ErrNotExist):
				return nil, err
			case file == first:
				return nil, &BadInput{
					Err:  fmt.Errorf("%s does not exist, but the specification has %s", file, folder.Declared),
					Hint: "copy the folder " + folder.Dir + " from the release of the applications repository that has it, and commit it; or " + folder.Instead(),
				}
			}
		}
	}
	return found, nil
}

// readFirst reads a file from the first of the readers that has it.
func readFirst(readers []tree.Reader, name string) ([]byte, error) {
	for _, r := range readers {
		content, err := r.ReadFile(name)
		var blocked *tree.BlockedError
		if errors.Is(err, fs.ErrNotExist) || errors.As(err, &blocked) {
			continue
		}
		return content, err
	}
	return nil, fs.ErrNotExist
}

// readInventory reads the inventory of a folder or branch. prefix is the beginning of its path in errors.
func readInventory(prefix string, r tree.Reader) (*tree.Inventory, error) {
	inv, err := tree.ReadInventory(r)
	if wrong := (*tree.FileError)(nil); errors.As(err, &wrong) {
		at := *wrong
		at.File = prefix + at.File
		return nil, &at
	}
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", prefix, tree.InventoryPath, err)
	}
	return inv, nil
}

// inFolder returns the prefix for the paths in a folder.
func inFolder(dir string) string {
	if dir = filepath.ToSlash(filepath.Clean(dir)); dir != "." {
		return dir + "/"
	}
	return ""
}

// Check returns an error if a tenant skips a step of its off-boarding, compared with the inventory of the last
// render. The error is strict.Errors.
func (s *Source) Check(inv *tree.Inventory) error {
	spec := s.Spec
	if spec == nil { // of a stream only the states are known
		spec = &v1alpha1.Spec{}
		for _, t := range s.Tenants {
			one := &v1alpha1.Tenant{}
			one.Metadata.Name, one.Spec.State = t.Name, v1alpha1.State(t.State)
			spec.Tenants = append(spec.Tenants, one)
		}
	}
	previous := map[string]v1alpha1.State{}
	for _, t := range inv.Tenants {
		previous[t.Name] = v1alpha1.State(t.State)
	}
	if errs := specs.CheckTransitions(spec, previous); len(errs) > 0 {
		return strict.Errors(errs)
	}
	return nil
}

// Plan compares a target with the current files. overwrite lists paths of the target.
func (s *Source) Plan(t tree.Target, current tree.Reader, inv *tree.Inventory, overwrite []string) (*tree.Plan, error) {
	o := tree.Options{
		Target: t.Name, Release: version.Current().Release(), Overwrite: overwrite, RewriteAdopted: s.components != nil, Marked: generators.Marked, Made: secrets.AsMade,
	}
	if t.Name == generators.PlatformTarget {
		if err := s.Check(inv); err != nil {
			return nil, err
		}
		o.Tenants, o.Guards = s.Tenants, s.Guards
	}
	if err := s.keepsSecrets(t, current); err != nil {
		return nil, err
	}
	plan, err := tree.Compare(t.Tree, current, inv, o)
	if err == nil && t.Name == generators.PlatformTarget {
		return plan, s.checkRemoval(inv, plan)
	}
	if err == nil {
		return plan, nil
	}
	if other := (*tree.TargetError)(nil); errors.As(err, &other) {
		return nil, &BadInput{Err: err, Hint: "give target " + t.Name + " a separate folder, or a separate repository and branch"}
	}
	err = fmt.Errorf("target %s: %w", t.Name, err)
	if o.Overwrite = nil; len(overwrite) > 0 {
		if _, without := tree.Compare(t.Tree, current, inv, o); without == nil {
			return nil, &BadInput{Err: err} // the paths to overwrite are wrong
		}
	}
	return nil, err
}

// checkRemoval returns the errors of what a plan removes although AllowRemoval does not name it.
func (s *Source) checkRemoval(inv *tree.Inventory, plan *tree.Plan) error {
	err := removal.Check(removal.Change{Spec: cmp.Or(s.Spec, s.carriedSpec), Guards: s.Guards, Tenants: s.Tenants,
		Allowed: s.AllowRemoval, Inventory: inv, Plan: plan})
	if unknown := (*removal.UnknownNameError)(nil); errors.As(err, &unknown) {
		return &BadInput{Err: err}
	}
	return err
}
