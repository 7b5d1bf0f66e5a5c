// Package render is the core behind the doors that turn a specification into
// files: it reads the specification (or a stream that the KRM function made of
// one), renders its targets, and brings folders and branches to them.
package render

import (
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
)

// Source is what targets are rendered from.
type Source struct {
	// Root is the platform target's own folder.
	Root string
	// Spec is the specification; nil for a stream, which holds rendered files.
	Spec *v1alpha1.Spec
	// Files are the specification's files, relative to Root.
	Files []specs.File
	// Tenants are the tenants' states, sorted by name.
	Tenants []tree.TenantState

	components []byte // gotk-components.yaml, where it was asked for
	// secrets reads the files of declared Secrets that no other reader has; nil for
	// none. absent are those that nothing had.
	secrets tree.Reader
	absent  []generators.SecretFile
	// Of a stream: its targets, and the specification that they came from; nil
	// when the stream holds none.
	targets     []tree.Target
	carriedSpec *v1alpha1.Spec
}

// FromFolder reads the specification in a folder. fluxManifests, unless empty,
// is a folder with Flux's own manifests, which is read where the specification
// installs Flux by bootstrap.
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

// FromSpec renders from a specification that was loaded already.
func FromSpec(spec *v1alpha1.Spec) *Source {
	s := &Source{Spec: spec}
	for _, t := range spec.Tenants {
		s.Tenants = append(s.Tenants, tree.TenantState{Name: t.Metadata.Name, State: string(t.Spec.State)})
	}
	return s
}

// UseFluxManifests is what FromFolder does with its second parameter.
func (s *Source) UseFluxManifests(dir string) (err error) {
	if s.Spec.Fleet.Spec.Flux.Install == v1alpha1.InstallBootstrap {
		s.components, err = FluxComponents(s.Spec, dir)
	}
	return err
}

// Targets renders the targets: the platform's first, then the tenants' by name.
// The adopted files that the platform repository has already are read from the
// first of the readers that has them, and the encrypted files of declared Secrets
// from the last: the specification's own folder, where they are made.
func (s *Source) Targets(platform ...tree.Reader) ([]tree.Target, error) {
	if s.Spec == nil {
		return s.targets, nil
	}
	o, err := s.options(platform)
	if err != nil {
		return nil, err
	}
	var targets []tree.Target
	err = bounded(func() (err error) {
		targets, err = generators.Render(s.Spec, o)
		return err
	})
	return targets, err
}

// renderedBytes is what a specification counts as where the bounds of a run grow: some lines of it may stand
// for a tree of 1,000 tenants on 10 clusters, which has 43 MB.
const renderedBytes = 48 << 20

// bounded renders within the bounds of a run.
func bounded(render func() error) error {
	bounds.GrowRun(renderedBytes)
	return bounds.Do(bounds.Unit{Kind: "rendering", Name: "the specification"}, render)
}

// Platform renders the platform's target alone; see Targets.
func (s *Source) Platform(platform ...tree.Reader) (tree.Target, error) {
	o, err := s.options(platform)
	if err != nil {
		return tree.Target{}, err
	}
	var target tree.Target
	err = bounded(func() (err error) {
		target, err = generators.Platform(s.Spec, o)
		return err
	})
	return target, err
}

func (s *Source) options(platform []tree.Reader) (generators.Options, error) {
	o := generators.Options{FluxComponents: s.components, Adopted: map[string][]byte{}, Secrets: map[string][]byte{}}
	if err := s.checkSystem(platform); err != nil {
		return o, err
	}
	if err := s.readSecrets(o.Secrets, platform); err != nil {
		return o, err
	}
	if s.components != nil {
		return o, nil
	}
	for _, name := range generators.AdoptedPaths(s.Spec) {
		content, err := readFirst(platform, name)
		if errors.Is(err, fs.ErrNotExist) {
			return o, &BadInput{
				Err: fmt.Errorf("%s: there is none, and the specification installs Flux by bootstrap", name),
				Hint: "run \"flux bootstrap\" first, and what it wrote is kept; or write the file with flux install --version=v" +
					strings.TrimPrefix(s.Spec.Fleet.Spec.Flux.Version, "v") + " --export > " + name + "; or give Flux's manifests with --flux-manifests DIR, in a functionConfig as spec.fluxManifests (manifests.tar.gz of a Flux release, unpacked)",
			}
		}
		if err != nil {
			return o, err
		}
		o.Adopted[name] = content
	}
	return o, nil
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

// readInventory reads the inventory of a folder or branch; errors name its place,
// which begins with prefix.
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

// inFolder is the prefix of the paths in a folder.
func inFolder(dir string) string {
	if dir = filepath.ToSlash(filepath.Clean(dir)); dir != "." {
		return dir + "/"
	}
	return ""
}

// Check refuses a platform whose tenants leave out a step of their off-boarding,
// seen from the inventory of the last render. The error is strict.Errors.
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

// Plan compares a target with what is there. Overwrite lists paths of the target.
func (s *Source) Plan(t tree.Target, current tree.Reader, inv *tree.Inventory, overwrite []string) (*tree.Plan, error) {
	o := tree.Options{
		Target: t.Name, Release: version.Current().Release(), Overwrite: overwrite, RewriteAdopted: s.components != nil, Marked: generators.Marked, Made: secrets.AsMade,
	}
	if t.Name == generators.PlatformTarget {
		if err := s.Check(inv); err != nil {
			return nil, err
		}
		o.Tenants = s.Tenants
	}
	if err := s.keepsSecrets(t, current); err != nil {
		return nil, err
	}
	plan, err := tree.Compare(t.Tree, current, inv, o)
	if err == nil {
		return plan, nil
	}
	if other := (*tree.TargetError)(nil); errors.As(err, &other) {
		return nil, &BadInput{Err: err, Hint: "give target " + t.Name + " a folder, or a repository and branch, of its own"}
	}
	err = fmt.Errorf("target %s: %w", t.Name, err)
	if o.Overwrite = nil; len(overwrite) > 0 {
		if _, without := tree.Compare(t.Tree, current, inv, o); without == nil {
			return nil, &BadInput{Err: err} // the paths to overwrite are wrong
		}
	}
	return nil, err
}
