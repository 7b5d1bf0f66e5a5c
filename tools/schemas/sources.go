package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
)

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
// newest Kubernetes' schemas; the CRDs are those that the Flux Operator ships.
func sources() []source {
	const operator, operatorVersion = "github.com/controlplaneio-fluxcd/flux-operator", "v0.58.0"
	const kubernetes, kubernetesVersion = "k8s.io/kubernetes", "v1.36.3"
	return []source{
		{operator, operatorVersion, "config/crd/bases/*.yaml", readCRDs},
		{operator, operatorVersion, "config/data/flux/v2.9.4/*.yaml", readCRDs},
		{kubernetes, kubernetesVersion, "api/openapi-spec/v3/*_openapi.json", readOpenAPI},
	}
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
