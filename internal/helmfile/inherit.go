package helmfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// inherited merges the templates that a release inherits from. As in helmfile,
// the release's own fields and labels win over a template's, a later template's
// over an earlier one's, and lists append, the templates' first.
func (h *helmfile) inherited(r *rawRelease) (*rawRelease, error) {
	withDefaults := *r
	if len(h.defaultInherit) > 0 {
		withDefaults.inherit = nil
		named := func(name string) func(inherit) bool {
			return func(i inherit) bool { return strings.TrimSpace(i.template.Value) == name }
		}
		for _, d := range h.defaultInherit {
			if !slices.ContainsFunc(r.inherit, named(d.Value)) && !slices.ContainsFunc(withDefaults.inherit, named(d.Value)) {
				withDefaults.inherit = append(withDefaults.inherit, inherit{template: d})
			}
		}
		for _, i := range r.inherit {
			if strings.TrimSpace(i.template.Value) != "" {
				withDefaults.inherit = append(withDefaults.inherit, i)
			}
		}
	}
	budget := min(limits.Inherited, h.inheritances)
	granted := budget
	out, err := h.inherit(&withDefaults, nil, &budget)
	h.inheritances -= granted - max(budget, 0)
	if out != nil {
		out.Place = r.Place
	}
	var cycle *circleError
	if errors.As(err, &cycle) {
		err = fmt.Errorf("unable to load release %q with template: %w", r.fields["name"].Value, cycle)
	}
	return out, err
}

const errInherits templates.Exceeded = "the releases inherit from too many templates"

// circleError is about templates that inherit from themselves.
type circleError struct{ path []string }

func (e *circleError) Error() string {
	return "cyclic inheritance detected: " + strings.Join(e.path, "->")
}

func (h *helmfile) inherit(r *rawRelease, path []string, budget *int) (*rawRelease, error) {
	out := &rawRelease{Place: r.Place, fields: map[string]located.Text{}, pointers: map[string]*located.Text{}, labels: map[string]located.Text{}}
	name := r.fields["name"].Value
	for _, i := range r.inherit {
		from := i.template.Value
		if from == "" {
			as := *r
			return &as, nil
		}
		if *budget--; *budget < 0 {
			return nil, errInherits
		}
		if slices.Contains(path, from) {
			return nil, &circleError{append(slices.Clone(path), from)}
		}
		template, ok := h.templates[from]
		if !ok {
			return nil, fmt.Errorf("release %q tried to inherit inexistent release template %q", name, from)
		}
		source, err := h.inherit(template, append(path[:len(path):len(path)], from), budget)
		switch {
		case errors.Is(err, errInherits):
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("unable to load release template %q: %w", from, err)
		}
		if err := source.leaveOut(i.except); err != nil {
			return nil, err
		}
		out.overlay(source)
	}
	out.overlay(r)
	return out, nil
}

// leaveOut drops the fields that a release doesn't inherit.
func (r *rawRelease) leaveOut(except []string) error {
	for _, field := range except {
		switch field {
		case "labels":
			r.labels = map[string]located.Text{}
		case "values":
			r.values = nil
		case "valuesTemplate":
			r.templated = nil
		case "secrets":
			r.secrets = nil
		case "set", "setString", "setTemplate":
			r.set = slices.DeleteFunc(slices.Clone(r.set), func(s setting) bool { return s.field == field })
		default:
			return fmt.Errorf("%q is not allowed under `inherit`. Allowed values are \"set\", \"setTemplate\", \"values\", \"valuesTemplate\", \"secrets\", and \"labels\"", field)
		}
	}
	return nil
}

// overlay sets what another release or template sets, and appends its lists.
// Like helmfile's merge, an empty value, false among them, replaces nothing, and
// what stands behind a pointer is changed for all that share it.
func (r *rawRelease) overlay(from *rawRelease) {
	maps.Copy(r.fields, from.fields)
	for field, t := range from.pointers {
		switch own := r.pointers[field]; {
		case own == nil:
			r.pointers[field] = t
		case t.Value != "" && (field != "installed" || isTrue(t.Value)):
			*own = *t
		}
	}
	maps.Copy(r.labels, from.labels)
	r.values = append(r.values, from.values...)
	r.templated = append(r.templated, from.templated...)
	r.secrets = append(r.secrets, from.secrets...)
	r.set = append(r.set, from.set...)
	r.needs = append(r.needs, from.needs...)
	r.args = append(r.args, from.args...)
	r.patches = append(r.patches, from.patches...)
	r.env = append(r.env, from.env...)
	r.hooks = append(r.hooks, from.hooks...)
}

// isTrue says whether a scalar is the boolean true of YAML.
func isTrue(s string) bool { return s == "true" || s == "True" || s == "TRUE" }
