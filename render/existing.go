package render

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// GenerateOptions select the places from which existing files are read.
type GenerateOptions struct {
	// Platform are the readers of the platform repository. Adopted files are read from the first reader that has them.
	Platform []tree.Reader
	// Secrets are the readers of the encrypted files of declared Secrets. The first one reads the folder of the
	// specification, where these files are created.
	Secrets []tree.Reader
	// PlatformOnly skips the targets of tenants.
	PlatformOnly bool
}

// readExisting reads the files of the platform repository that its rendered files depend on.
func readExisting(s *Specification, from GenerateOptions) (o generators.Options, err error) {
	o = generators.Options{FluxComponents: s.Components, Adopted: map[string][]byte{}}
	if err := checkSystem(s.Spec, from.Platform); err != nil {
		return o, err
	}
	if o.Secrets, err = readSecrets(s.Spec, from.Secrets); err != nil {
		return o, err
	}
	if o.Copied, err = copied(s.Spec, from.Platform); err != nil || s.Components != nil {
		return o, err
	}
	for _, name := range generators.AdoptedPaths(s.Spec) {
		content, err := readFirst(from.Platform, name)
		if errors.Is(err, fs.ErrNotExist) {
			return o, advice.Input(
				fmt.Errorf("%s does not exist, but the specification installs Flux by bootstrap", name),
				"run \"flux bootstrap\" first, whose files are kept; or write the file with flux install --version=v"+
					strings.TrimPrefix(s.Spec.Fleet.Spec.Flux.Version, "v")+" --export > "+name+"; or pass the Flux manifests with --flux-manifests DIR, in a functionConfig as spec.fluxManifests (the unpacked manifests.tar.gz of a Flux release)",
			)
		}
		if err != nil {
			return o, err
		}
		o.Adopted[name] = content
	}
	return o, nil
}

// copied returns the files in the folders that the specification expects at the destination of the platform's target. It
// reads them from the first reader that has the folder.
func copied(spec *v1alpha1.Spec, platform []tree.Reader) (map[string][]byte, error) {
	found := map[string][]byte{}
	for _, folder := range generators.CopiedFolders(spec) {
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
				return nil, advice.Input(
					fmt.Errorf("%s does not exist, but the specification has %s", file, folder.Declared),
					"copy the folder "+folder.Dir+" from the release of the applications repository that has it, and commit it; or "+folder.Instead(),
				)
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
