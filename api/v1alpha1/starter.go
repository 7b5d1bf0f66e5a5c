package v1alpha1

import (
	"bytes"
	"embed"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed starter/*.yaml
var starterFiles embed.FS

// StarterOptions are what a starter specification takes from its repository.
type StarterOptions struct {
	// RepositoryURL is the platform repository's remote, in any form that git
	// accepts; a placeholder stands in for it when it is empty.
	RepositoryURL string
	// Branch that the clusters follow; main when it is empty.
	Branch string
}

// Starter returns the specification that `fleetwright init` writes, with a
// comment for every field. It is valid as it stands. The files' paths begin
// with fleet/.
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
		at    *fieldPath
		value string
	}{
		{at("spec", "repository", "url"), cloneURL(o.RepositoryURL)},
		{at("spec", "repository", "branch"), o.Branch},
	} {
		content, err := replaceScalar(files[0].Content, field.at, field.value)
		if err != nil {
			return nil, fmt.Errorf("starter specification: %w", err)
		}
		files[0].Content = content
	}
	return files, nil
}

// replaceScalar replaces a plain scalar of a YAML file's first document and
// leaves every other byte as it is; an empty value leaves all of them.
func replaceScalar(content []byte, p *fieldPath, value string) ([]byte, error) {
	if value == "" {
		return content, nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(content, &doc); err != nil {
		return nil, err
	}
	_, node, found := p.find(doc.Content[0])
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

// scpRemote is git's short form of an ssh URL: [user@]host:path.
var scpRemote = regexp.MustCompile(`^([A-Za-z0-9._-]+@)?([A-Za-z0-9.-]+):([^/\\].*|/.*)$`)

// cloneURL turns a git remote into a URL that Flux accepts, without a password.
// A folder becomes a file:// URL.
func cloneURL(remote string) string {
	switch {
	case remote == "":
		return ""
	case strings.Contains(remote, "://"):
		u, err := url.Parse(remote)
		if err != nil || !slices.Contains([]string{"https", "http", "ssh", "file"}, u.Scheme) {
			return ""
		}
		if u.Scheme != "ssh" {
			u.User = nil // a token would end in Git
		} else if u.User != nil {
			u.User = url.User(u.User.Username())
		}
		return u.String()
	case strings.HasPrefix(remote, "/"):
		return (&url.URL{Scheme: "file", Path: remote}).String()
	}
	if m := scpRemote.FindStringSubmatch(remote); m != nil {
		return "ssh://" + m[1] + m[2] + "/" + strings.TrimPrefix(m[3], "/")
	}
	return ""
}
