package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
)

// The modules that schemas are taken from.
const (
	operator, operatorVersion       = "github.com/controlplaneio-fluxcd/flux-operator", "v0.58.0"
	kubernetes, kubernetesVersion   = "k8s.io/kubernetes", "v1.36.3"
	certManager, certManagerVersion = "github.com/cert-manager/cert-manager", "v1.21.2"
)

// lifecycleReleases of k8s.io/api: the newest that still has the versions that
// Kubernetes removed last, and the one of kubernetesVersion.
var lifecycleReleases = []string{"v0.35.4", "v0.36.3"}

// source is a module that schemas are taken from.
type source struct {
	// Module and Version to download.
	Module, Version string
	// Pattern of the files in it.
	Pattern string
	// Read turns one of the files into schemas.
	Read func(data []byte) ([]schema, error)
}

// sources are all of them. The API servers that Flux supports are served by the
// newest Kubernetes' schemas; the CRDs are those that the Flux Operator ships:
// of a version that Flux no longer has, those of the last release that had it.
func sources() ([]source, error) {
	all := []source{
		{operator, operatorVersion, "config/crd/bases/*.yaml", readCRDs},
		{certManager, certManagerVersion, "deploy/crds/cert-manager.io_*.yaml", readCRDs},
	}
	releases, err := fluxReleases()
	if err != nil {
		return nil, err
	}
	for _, folder := range releases {
		all = append(all, source{operator, operatorVersion, "config/data/flux/" + filepath.Base(folder) + "/*.yaml", readCRDs})
	}
	dir, err := download(kubernetes, kubernetesVersion)
	if err != nil {
		return nil, err
	}
	enums, err := readEnums(filepath.Join(dir, filepath.FromSlash(generatedOpenAPI)))
	if err != nil {
		return nil, err
	}
	read := func(data []byte) ([]schema, error) { return readOpenAPI(data, enums) }
	return append(all, source{kubernetes, kubernetesVersion, "api/openapi-spec/v3/*_openapi.json", read}), nil
}

// download fetches a module and returns its folder in the module cache.
func download(module, version string) (string, error) {
	out, err := exec.Command("go", "mod", "download", "-json", module+"@"+version).Output()
	var answer struct{ Dir, Error string }
	if jsonErr := json.NewDecoder(bytes.NewReader(out)).Decode(&answer); jsonErr == nil && answer.Error != "" {
		return "", errors.New(answer.Error)
	}
	if err != nil {
		return "", fmt.Errorf("downloading %s@%s: %w", module, version, err)
	}
	return answer.Dir, nil
}
