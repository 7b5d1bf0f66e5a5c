package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
)

// The modules from which the schemas come.
const (
	operator, operatorVersion       = "github.com/controlplaneio-fluxcd/flux-operator", "v0.58.0"
	kubernetes, kubernetesVersion   = "k8s.io/kubernetes", "v1.36.3"
	certManager, certManagerVersion = "github.com/cert-manager/cert-manager", "v1.21.2"
)

// lifecycles are the folders, in modules, of the code that says when versions were removed. For k8s.io/api
// there are two releases: the newest one that still has the versions that Kubernetes removed last, and that of
// kubernetesVersion.
var lifecycles = []struct{ module, release, folders string }{
	{"k8s.io/api", "v0.35.4", "*/*"}, {"k8s.io/api", "v0.36.3", "*/*"}, {"k8s.io/apiextensions-apiserver", "v0.36.3", "pkg/apis/*/*"},
}

// source is a module from which schemas come.
type source struct {
	// Module and Version are the module to download.
	Module, Version string
	// Pattern matches the files to read.
	Pattern string
	// Read returns the schemas in one of the files.
	Read func(data []byte) ([]schema, error)
}

// sources returns all sources. The schemas of the newest Kubernetes are used for all API servers that Flux
// supports. The CRDs come from the Flux Operator. For a version that Flux no longer has, they come
// from the last release that had it.
func sources() ([]source, error) {
	all := []source{
		{operator, operatorVersion, "config/crd/bases/*.yaml", readOperatorCRDs},
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

// download downloads a module and returns its folder in the module cache.
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
