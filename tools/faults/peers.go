//go:build tools

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// peers runs kustomize, and kubeconform on the objects that kustomize builds.
type peers struct {
	options
	dir    string            // of the copy
	before map[string]string // their errors for a folder before the fault
}

// remember records the peers' errors for the folders of a place before the fault is injected.
func (p *peers) remember(ctx context.Context, at *place) {
	for dir := range at.builds {
		if _, ok := p.before[dir]; !ok {
			p.before[dir] = p.ask(ctx, dir)
		}
	}
}

// notice reports whether a peer's errors for a folder of the place differ from the recorded ones.
func (p *peers) notice(ctx context.Context, at *place) bool {
	for dir := range at.builds {
		if p.ask(ctx, dir) != p.before[dir] {
			return true
		}
	}
	return false
}

// ask returns the peers' errors for a folder; "" if there are none.
func (p *peers) ask(ctx context.Context, dir string) string {
	folder := filepath.Join(p.dir, filepath.FromSlash(dir))
	var built []byte
	if hasKustomization(folder) {
		var said bytes.Buffer
		cmd := exec.CommandContext(ctx, p.kustomize, "build", folder)
		cmd.Env = append(os.Environ(), "HTTPS_PROXY=http://127.0.0.1:9", "HTTP_PROXY=http://127.0.0.1:9")
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			return "kustomize: " + said.String()
		}
		built = out
	} else if files, err := filepath.Glob(filepath.Join(folder, "*.y*ml")); err == nil {
		for _, file := range files {
			text, _ := os.ReadFile(file)
			built = append(append(built, "\n---\n"...), text...)
		}
	}
	if p.kubeconform == "" {
		return ""
	}
	args := []string{"-strict", "-ignore-missing-schemas", "-output", "text", "-schema-location", filepath.ToSlash(p.schemas) + "/{{ .Group }}/{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json"}
	cmd := exec.CommandContext(ctx, p.kubeconform, args...)
	cmd.Stdin = bytes.NewReader(built)
	out, err := cmd.Output()
	if err == nil {
		return ""
	}
	return "kubeconform: " + strings.TrimSpace(string(out))
}

func hasKustomization(folder string) bool {
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return true
		}
	}
	return false
}
