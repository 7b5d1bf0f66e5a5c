package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// provenanceFile names the module from which each schema in the executable was generated.
const provenanceFile = "schemas/PROVENANCE.json"

// fluxFolder is the folder of the Flux Operator's module with the definitions of Flux.
const fluxFolder = "config/data/flux/"

// schemaSources returns the modules from which the schemas in the executable were generated. They are not linked.
func schemaSources(ctx context.Context, src *source) ([]module, error) {
	text, err := os.ReadFile(filepath.Join(src.dir, filepath.FromSlash(provenanceFile)))
	if err != nil {
		return nil, err
	}
	var files map[string]struct{ Module, File string }
	if err := json.Unmarshal(text, &files); err != nil {
		return nil, fmt.Errorf("%s: %w", provenanceFile, err)
	}
	notes := map[string]string{}
	for name, from := range files {
		if !strings.Contains(from.Module, "@") {
			if from.Module != "github.com/fleetwright/fleetwright" {
				return nil, fmt.Errorf("%s: %s comes from %q, which has no version", provenanceFile, name, from.Module)
			}
			continue
		}
		note := notes[from.Module]
		if strings.HasPrefix(from.File, fluxFolder) {
			note = fmt.Sprintf(" Those from its folder %s are of Flux, whose modules github.com/fluxcd/... have a licence above.", fluxFolder)
		}
		notes[from.Module] = note
	}
	var all []module
	for _, name := range slices.Sorted(maps.Keys(notes)) {
		m, err := download(ctx, src.dir, name)
		if err != nil {
			return nil, err
		}
		m.contained = "The executable contains schemas of kinds that were generated from definitions in this module, without their " +
			"descriptions. None of this version's code is linked." + notes[name]
		all = append(all, m)
	}
	return all, nil
}

// rootsModule has the root certificates of the image.
const rootsModule = "golang.org/x/crypto/x509roots/fallback"

// rootCertificates returns the module with the root certificates that this program writes into the image.
func rootCertificates(ctx context.Context, src *source) (module, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return module{}, errors.New("this program has no build information")
	}
	i := slices.IndexFunc(info.Deps, func(d *debug.Module) bool { return d.Path == rootsModule })
	if i < 0 {
		return module{}, errors.New("this program is not linked with " + rootsModule)
	}
	m, err := download(ctx, src.dir, rootsModule+"@"+info.Deps[i].Version)
	m.contained = "The image contains the root certificates of this module in /etc/ssl/certs/ca-certificates.crt. They come from Mozilla's " +
		"certdata.txt, which is under the Mozilla Public License 2.0 (https://mozilla.org/MPL/2.0/), and which " +
		"https://hg.mozilla.org/projects/nss has."
	return m, err
}

// download returns a module, NAME@VERSION, with the folder of its files.
func download(ctx context.Context, dir, name string) (module, error) {
	var m module
	text, err := command(ctx, dir, []string{"GOFLAGS=-mod=mod"}, "go", "mod", "download", "-json", name)
	if err != nil {
		return m, err
	}
	err = json.Unmarshal([]byte(text), &m)
	return m, err
}
