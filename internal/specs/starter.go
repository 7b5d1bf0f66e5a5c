package specs

import (
	"bytes"
	"embed"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/strict"
)

//go:embed starter/*.yaml
var starterFiles embed.FS

// StarterOptions are the fields of a starter specification that depend on its repository.
type StarterOptions struct {
	// RepositoryURL is the platform repository's remote, in any form that git accepts; if it is
	// empty, a placeholder is used.
	RepositoryURL string
	// Branch that the clusters follow; main if it is empty.
	Branch string
}

// Starter returns the specification that `fleetwright init` writes, with a comment for every field. It is valid without
// changes. The files' paths begin with fleet/. If the repository is read over SSH, for which Flux needs a key, the
// Secrets of its readers are enabled.
func Starter(o StarterOptions) ([]File, error) {
	var files []File
	for _, name := range []string{"fleet.yaml", "clusters.yaml", "addons.yaml", "tenants.yaml"} {
		content, err := starterFiles.ReadFile("starter/" + name)
		if err != nil {
			return nil, fmt.Errorf("starter specification: %w", err)
		}
		files = append(files, File{Path: "fleet/" + name, Content: content})
	}
	for _, field := range []struct {
		at    *strict.Path
		value string
	}{
		{strict.At("spec", "repository", "url"), strict.CloneURL(o.RepositoryURL)},
		{strict.At("spec", "repository", "branch"), o.Branch},
	} {
		content, err := replaceScalar(files[0].Content, field.at, field.value)
		if err != nil {
			return nil, fmt.Errorf("starter specification: %w", err)
		}
		files[0].Content = content
	}
	if strings.HasPrefix(strict.CloneURL(o.RepositoryURL), "ssh://") {
		for i, f := range files {
			if f.Path == "fleet/fleet.yaml" || f.Path == "fleet/tenants.yaml" {
				files[i].Content = bytes.Replace(f.Content, []byte("    #secretRef:\n    #  name:"), []byte("    secretRef:\n      name:"), 1)
			}
		}
	}
	return files, nil
}

// replaceScalar replaces a plain scalar in a YAML file's first document and leaves every other byte
// unchanged. If value is empty, it changes nothing.
func replaceScalar(content []byte, p *strict.Path, value string) ([]byte, error) {
	if value == "" {
		return content, nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		return nil, err
	}
	_, node, found := p.Find(doc.Content[0])
	if !found {
		return nil, fmt.Errorf("%s is not there", p)
	}
	written, err := yaml.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	lines := bytes.SplitAfter(content, []byte("\n"))
	line := lines[node.Line-1]
	after := line[node.Column-1+len(node.Value):]
	lines[node.Line-1] = bytes.Join([][]byte{line[:node.Column-1], bytes.TrimSpace(written), after}, nil)
	return bytes.Join(lines, nil), nil
}
