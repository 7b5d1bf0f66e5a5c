package helmfile

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// decode reads a document.
func (h *helmfile) decode(n *yaml.Node) {
	file := h.file
	for _, b := range located.Items(n, "bases") {
		h.bases = append(h.bases, located.Text{Place: located.At(file, b.Line), Value: b.Value})
	}
	for _, repo := range located.Items(n, "repositories") {
		h.repositories = append(h.repositories, chartRepository{name: located.ScalarText(file, repo, "name"),
			url: located.ScalarText(file, repo, "url"), oci: located.ScalarText(file, repo, "oci").Value == "true",
			plainHTTP: isTrue(located.ScalarText(file, repo, "plainHttp").Value)})
	}
	located.EachField(n, "templates", func(name string, template *yaml.Node) {
		h.templates[name] = newRawRelease(file, template)
	})
	for _, list := range []string{"args", "templateArgs", "postRendererArgs"} {
		for _, arg := range located.Items(n, "helmDefaults", list) {
			h.helmDefaults[list] = append(h.helmDefaults[list], arg.Value)
		}
	}
	for _, option := range []string{"postRenderer", "devel", "plainHttp"} {
		if t := located.ScalarText(file, repository.Lookup(n, "helmDefaults"), option); t.Value != "" {
			h.helmDefaults[option] = []string{t.Value}
		}
	}
	h.decodeDefaultInherit(n)
	located.ReadTexts(h.commonLabels, file, repository.Lookup(n, "commonLabels"))
	h.namespace = located.ScalarText(file, n, "namespace")
	h.missingFiles = located.ScalarText(file, n, "missingFileHandler")
	h.defaults = entries(file, n, "values")
	located.EachField(n, "environments", func(name string, env *yaml.Node) {
		h.environments[name] = newEnvironmentSpec(file, env)
	})
	for _, c := range located.Items(n, "helmfiles") {
		h.calls = append(h.calls, newCall(file, c))
	}
	for _, hook := range hooksOf(file, n) {
		hook.Shared = true
		h.hooks = append(h.hooks, hook)
	}
	for _, release := range located.Items(n, "releases") {
		if release.Kind == yaml.MappingNode {
			h.releases = append(h.releases, newRawRelease(file, release))
		}
	}
}

func (h *helmfile) decodeDefaultInherit(n *yaml.Node) {
	list := located.Items(n, "defaultInherit")
	if d := repository.Lookup(n, "defaultInherit"); d != nil && d.Kind == yaml.ScalarNode {
		list = []*yaml.Node{d}
	}
	for _, d := range list {
		if name := strings.TrimSpace(d.Value); name != "" {
			h.defaultInherit = append(h.defaultInherit, located.Text{Place: located.At(h.file, d.Line), Value: name})
		}
	}
}
