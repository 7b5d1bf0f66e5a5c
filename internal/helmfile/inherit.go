package helmfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

const errInherits templates.Exceeded = "the releases inherit from too many templates"

// errExcept is the error of a release that excludes fields of a template (except): its fields from the template are not known.
var errExcept = &templates.UnknownError{Mark: located.Unknown{Reason: "it inherits a template but for some of its fields (except), which is not evaluated"}}

// inherited merges the templates that a release inherits from. As in helmfile, the release's own fields and labels win over a
// template's, a later template's over an earlier one's, and lists are appended, the templates' first.
func (h *helmfile) inherited(r *rawRelease) (*rawRelease, error) {
	whole := *r
	for _, d := range slices.Backward(h.defaultInherit) {
		if !slices.ContainsFunc(whole.inherit, func(i inherit) bool { return i.template == d.Value }) {
			whole.inherit = slices.Insert(slices.Clone(whole.inherit), 0, inherit{template: d.Value})
		}
	}
	return h.inherit(&whole, nil)
}

func (h *helmfile) inherit(r *rawRelease, path []string) (*rawRelease, error) {
	out := emptyRawRelease(r.Place)
	for _, i := range r.inherit {
		if i.template == "" {
			continue
		}
		if h.inheritances--; h.inheritances < 0 {
			return nil, errInherits
		}
		if slices.Contains(path, i.template) {
			return nil, fmt.Errorf("the release templates inherit from each other: %s", strings.Join(append(path, i.template), " → "))
		}
		template, ok := h.templates[i.template]
		if !ok {
			return nil, fmt.Errorf("there is no release template %q", i.template)
		}
		source, err := h.inherit(template, append(path[:len(path):len(path)], i.template))
		if err == nil && i.except {
			err = errExcept
		}
		if err != nil {
			return nil, err
		}
		out.overlay(source)
	}
	out.overlay(r)
	return out, nil
}

// overlay sets the fields that another release or template sets, and appends its lists.
func (r *rawRelease) overlay(from *rawRelease) {
	maps.Copy(r.fields, from.fields)
	maps.Copy(r.labels, from.labels)
	r.values = append(r.values, from.values...)
	r.templated = append(r.templated, from.templated...)
	r.secrets = append(r.secrets, from.secrets...)
	r.set = append(r.set, from.set...)
	r.needs = append(r.needs, from.needs...)
	r.args = append(r.args, from.args...)
	r.patches = append(r.patches, from.patches...)
	r.hooks = append(r.hooks, from.hooks...)
}

// isTrue reports whether a scalar is YAML's boolean true.
func isTrue(s string) bool { return s == "true" || s == "True" || s == "TRUE" }
