package bootstrap

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// releaseFields are the scalar fields of a release that are evaluated.
var releaseFields = []string{"name", "namespace", "chart", "directory", "version", "valuesPathPrefix",
	"missingFileHandler", "postRenderer"}

func newRawRelease(file string, n *yaml.Node) *rawRelease {
	r := &rawRelease{place: place{file, n.Line}, fields: map[string]text{}, labels: map[string]text{}}
	for _, field := range releaseFields {
		if t := scalarText(file, n, field); t.value != "" {
			r.fields[field] = t
		}
	}
	if name, ok := r.fields["name"]; ok {
		r.line = name.line
	}
	readTexts(r.labels, file, repository.Lookup(n, "labels"))
	for _, i := range items(n, "inherit") {
		from := inherit{template: scalarText(file, i, "template")}
		for _, e := range items(i, "except") {
			from.except = append(from.except, e.Value)
		}
		r.inherit = append(r.inherit, from)
	}
	r.values = entries(file, n, "values")
	r.templated = entries(file, n, "valuesTemplate")
	r.secrets = entries(file, n, "secrets")
	r.set = slices.Concat(settings(file, n, "setTemplate"), settings(file, n, "set"), settings(file, n, "setString"))
	for _, need := range items(n, "needs") {
		r.needs = append(r.needs, text{place{file, need.Line}, need.Value, nil})
	}
	for _, arg := range items(n, "postRendererArgs") {
		r.args = append(r.args, arg.Value)
	}
	for _, env := range items(n, "env") {
		r.unsupported = append(r.unsupported, mark{reason: fmt.Sprintf("values come from the environment (env, %s:%d)", file, env.Line)})
	}
	return r
}

func entries(file string, n *yaml.Node, field string) []entry {
	list := items(n, field)
	out := make([]entry, 0, len(list))
	for _, item := range list {
		out = append(out, entry{place{file, item.Line}, item})
	}
	return out
}

func settings(file string, n *yaml.Node, field string) []setting {
	list := items(n, field)
	out := make([]setting, 0, len(list))
	for _, item := range list {
		s := setting{place: place{file, item.Line}, name: scalarText(file, item, "name").value,
			value: scalarText(file, item, "value").value, isString: field == "setString", templated: field == "setTemplate"}
		if repository.Lookup(item, "file") != nil || repository.Lookup(item, "values") != nil {
			s.unknown = &mark{reason: fmt.Sprintf("%s %q takes its value from a file or a list", field, s.name)}
		}
		out = append(out, s)
	}
	return out
}

// inherited merges the templates that a release inherits from. As in helmfile,
// the release's own fields and labels win over a template's, a later template's
// over an earlier one's, and lists append, the templates' first.
func (h *helmfile) inherited(r *rawRelease) (*rawRelease, error) {
	withDefaults := *r
	withDefaults.inherit = nil
	for _, d := range h.defaultInherit {
		name := strings.TrimSpace(d.value)
		named := func(i inherit) bool { return strings.TrimSpace(i.template.value) == name }
		if name != "" && !slices.ContainsFunc(r.inherit, named) && !slices.ContainsFunc(withDefaults.inherit, named) {
			withDefaults.inherit = append(withDefaults.inherit, inherit{template: d})
		}
	}
	withDefaults.inherit = append(withDefaults.inherit, r.inherit...)
	budget := 200
	return h.inherit(&withDefaults, nil, &budget)
}

func (h *helmfile) inherit(r *rawRelease, path []string, budget *int) (*rawRelease, error) {
	out := &rawRelease{place: r.place, fields: map[string]text{}, labels: map[string]text{}}
	for _, i := range r.inherit {
		name := i.template.value
		if name == "" {
			return r, nil
		}
		if *budget--; *budget < 0 || slices.Contains(path, name) {
			return nil, fmt.Errorf("%s:%d: the template %q inherits from itself", i.template.file, i.template.line, name)
		}
		template, ok := h.templates[name]
		if !ok {
			return nil, fmt.Errorf("%s:%d: there is no template %q", i.template.file, i.template.line, name)
		}
		from, err := h.inherit(template, append(slices.Clone(path), name), budget)
		if err != nil {
			return nil, err
		}
		out.overlay(from, i.except)
	}
	out.overlay(r, nil)
	out.place = r.place
	return out, nil
}

// overlay sets what another release or template sets, and appends its lists.
func (r *rawRelease) overlay(from *rawRelease, except []string) {
	without := func(field string) bool { return slices.Contains(except, field) }
	maps.Copy(r.fields, from.fields)
	if !without("labels") {
		maps.Copy(r.labels, from.labels)
	}
	if !without("values") {
		r.values = append(r.values, from.values...)
	}
	if !without("valuesTemplate") {
		r.templated = append(r.templated, from.templated...)
	}
	if !without("secrets") {
		r.secrets = append(r.secrets, from.secrets...)
	}
	for _, s := range from.set {
		field := "set"
		if s.templated {
			field = "setTemplate"
		} else if s.isString {
			field = "setString"
		}
		if !without(field) {
			r.set = append(r.set, s)
		}
	}
	r.needs = append(r.needs, from.needs...)
	r.args = append(r.args, from.args...)
	r.unsupported = append(r.unsupported, from.unsupported...)
}
