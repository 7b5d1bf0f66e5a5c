package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

const about = "Generates and validates Flux GitOps repositories"

// packages writes the files for Homebrew, mise, aqua and Flux's plugins.
func (r *release) packages(src *source, artifacts []artifact) error {
	pages, err := src.pages()
	if err != nil {
		return err
	}
	url := func(a artifact) string { return r.base + "/" + r.version + "/" + a.name }
	files := map[string]string{
		"fleetwright.rb":     r.cask(artifacts, url, pages),
		"mise.toml":          r.mise(artifacts, url),
		"aqua-registry.yaml": aqua,
	}
	plugin, catalogue, err := r.plugin(artifacts, url)
	files["fleetwright.yaml"], files["catalog.yaml"] = plugin, catalogue
	for name, text := range files {
		err = errors.Join(err, r.write(name, []byte(text)))
	}
	return err
}

// cask returns a Homebrew cask for macOS and Linux, with a man page for each page of docs/cli.
func (r *release) cask(artifacts []artifact, url func(artifact) string, pages []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "cask \"fleetwright\" do\n  version %q\n", r.number())
	for _, goos := range []string{"darwin", "linux"} {
		on := map[string]string{"darwin": "macos", "linux": "linux"}[goos]
		var blocks []string
		for _, a := range artifacts {
			if a.os == goos {
				arch := map[string]string{"amd64": "intel", "arm64": "arm"}[a.arch]
				blocks = append(blocks, fmt.Sprintf("    on_%s do\n      sha256 %q\n      url %q\n    end\n", arch, a.sum, url(a)))
			}
		}
		if len(blocks) > 0 {
			fmt.Fprintf(&b, "\n  on_%s do\n%s  end\n", on, strings.Join(blocks, ""))
		}
	}
	fmt.Fprintf(&b, `
  name "Fleetwright"
  desc %q
  homepage "https://github.com/fleetwright/fleetwright"

  binary "fleetwright"
  bash_completion "completions/fleetwright.bash", target: "fleetwright"
  zsh_completion "completions/_fleetwright"
  fish_completion "completions/fleetwright.fish"
`, about)
	for _, page := range pages {
		fmt.Fprintf(&b, "  manpage %q\n", manFile(manName(page)))
	}
	b.WriteString(`
  postflight do
    if OS.mac?
      system_command "/usr/bin/xattr", args: ["-dr", "com.apple.quarantine", "#{staged_path}/fleetwright"]
    end
  end
end
`)
	return b.String()
}

// mise returns a configuration of mise, whose http backend verifies each download.
func (r *release) mise(artifacts []artifact, url func(artifact) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[tools.\"http:fleetwright\"]\nversion = %q\n\n[tools.\"http:fleetwright\".platforms]\n", r.number())
	for _, a := range artifacts {
		goos := strings.NewReplacer("darwin", "macos").Replace(a.os)
		fmt.Fprintf(&b, "%s-%s = { url = %q, checksum = \"sha256:%s\" }\n", goos, strings.Replace(a.arch, "amd64", "x64", 1), url(a), a.sum)
	}
	return b.String()
}

// aqua is an entry for aqua's registry, which reads the checksums of each release.
const aqua = `packages:
- type: github_release
  repo_owner: fleetwright
  repo_name: fleetwright
  description: ` + about + `
  asset: fleetwright_{{trimV .Version}}_{{.OS}}_{{.Arch}}.{{.Format}}
  format: tar.gz
  overrides:
  - goos: windows
    format: zip
  files:
  - name: fleetwright
  checksum:
    type: github_release
    asset: checksums.txt
    algorithm: sha256
`

// plugin returns the manifest of a Flux plugin, and a catalogue with it, as JSON, which is valid YAML. Source:
// fluxcd/flux2 v2.9, pkg/plugin.
func (r *release) plugin(artifacts []artifact, url func(artifact) string) (manifest, catalogue string, err error) {
	const api = "cli.fluxcd.io/v1beta1"
	const home = "https://github.com/fleetwright/fleetwright"
	platforms := []object{}
	for _, a := range artifacts {
		path := "fleetwright"
		if a.os == "windows" {
			path += ".exe"
		}
		platforms = append(platforms, object{"os": a.os, "arch": a.arch, "url": url(a), "checksum": "sha256:" + a.sum, "extractPath": path})
	}
	entry := object{"name": "fleetwright", "description": about, "homepage": home, "source": home}
	list := object{"apiVersion": api, "kind": "PluginCatalog", "plugins": []object{merge(entry, object{"license": "Apache-2.0"})}}
	plugin := merge(entry, object{
		"apiVersion": api, "kind": "Plugin", "bin": "flux-fleetwright",
		"versions": []object{{"version": r.number(), "platforms": platforms}},
	})
	var texts []string
	for _, v := range []object{plugin, list} {
		text, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return "", "", err
		}
		texts = append(texts, string(text)+"\n")
	}
	return texts[0], texts[1], nil
}

// merge returns an object with the fields of all objects.
func merge(objects ...object) object {
	out := object{}
	for _, o := range objects {
		for k, v := range o {
			out[k] = v
		}
	}
	return out
}
