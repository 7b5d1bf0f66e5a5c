package bootstrap

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// rawRelease is a release, or a release template, as written.
type rawRelease struct {
	place
	fields map[string]text // name, namespace, chart, version, …
	// pointers are the fields that helmfile holds behind a pointer: one that a
	// template sets is shared by all that inherit it.
	pointers  map[string]*text
	labels    map[string]text
	inherit   []inherit
	values    []entry
	templated []entry // valuesTemplate
	secrets   []entry
	set       []setting
	needs     []text
	hooks     []Hook
	args      []string // postRendererArgs
	patches   []text   // fields that change what the chart renders
	env       []text
	// reads are the files that the helmfile's own template read for the release.
	reads map[string]bool
}

// Hook is a command that a bootstrap runs around a release: it is never run here.
type Hook struct {
	place
	// Events at which it runs, such as presync and postsync.
	Events []string
	// Command with its arguments, as written.
	Command []string
}

type inherit struct {
	template text
	except   []string
}

// setting is an item of set, setString or setTemplate.
type setting struct {
	place
	field             string // "set", "setString" or "setTemplate"
	name, value, file string
	values            []any
	unknown           *mark
}

// releaseFields are the scalar fields of a release that are read, and
// templatedFields those that helmfile renders, in its order.
var (
	releaseFields   = []string{"name", "chart", "namespace", "version", "valuesPathPrefix", "condition"}
	templatedFields = []string{"name", "chart", "namespace", "version"}
)

// pointerFields are the scalar fields behind a pointer.
var pointerFields = []string{"missingFileHandler", "postRenderer", "installed", "installedTemplate", "conditionTemplate",
	"verifyTemplate", "waitTemplate"}

// patchFields are those that change the chart, or what it renders.
var patchFields = []string{"jsonPatches", "strategicMergePatches", "transformers", "dependencies", "forceNamespace"}

func newRawRelease(file string, n *yaml.Node) *rawRelease {
	r := &rawRelease{fields: map[string]text{}, pointers: map[string]*text{}, labels: map[string]text{}}
	if n == nil {
		r.place = place{file: file}
		return r
	}
	r.place = place{file, n.Line}
	for _, field := range releaseFields {
		if t := scalarText(file, n, field); t.value != "" {
			r.fields[field] = t
		} else if v := repository.Lookup(n, field); v != nil && len(v.Content) > 0 {
			r.fields[field] = text{place: place{file, v.Line}, unknown: &mark{reason: fmt.Sprintf("its %s is a list or a map, not a text", field)}}
		}
	}
	for _, field := range pointerFields {
		if v := repository.Lookup(n, field); v != nil && v.ShortTag() != "!!null" {
			t := scalarText(file, n, field)
			r.pointers[field] = &t
		}
	}
	if name, ok := r.fields["name"]; ok {
		r.line = name.line
	}
	readTexts(r.labels, file, repository.Lookup(n, "labels"))
	r.inherit = inherits(file, n)
	r.values = entries(file, n, "values")
	r.templated = entries(file, n, "valuesTemplate")
	r.secrets = entries(file, n, "secrets")
	for _, field := range []string{"setTemplate", "set", "setString"} {
		r.set = append(r.set, settings(file, n, field)...)
	}
	for _, need := range items(n, "needs") {
		r.needs = append(r.needs, text{place{file, need.Line}, need.Value, nil})
	}
	r.hooks = hooks(file, n)
	for _, arg := range items(n, "postRendererArgs") {
		r.args = append(r.args, arg.Value)
	}
	for _, field := range patchFields {
		if v := repository.Lookup(n, field); v != nil && (len(v.Content) > 0 || v.Kind == yaml.ScalarNode && v.Value != "") {
			r.patches = append(r.patches, text{place{file, v.Line}, field, nil})
		}
	}
	for _, env := range items(n, "env") {
		r.env = append(r.env, text{place{file, env.Line}, scalarText(file, env, "name").value, nil})
	}
	return r
}

func inherits(file string, n *yaml.Node) []inherit {
	list := items(n, "inherit")
	if one := repository.Lookup(n, "inherit"); one != nil && one.Kind == yaml.MappingNode {
		list = []*yaml.Node{one}
	}
	out := make([]inherit, 0, len(list))
	for _, i := range list {
		from := inherit{template: scalarText(file, i, "template")}
		for _, e := range items(i, "except") {
			from.except = append(from.except, e.Value)
		}
		out = append(out, from)
	}
	return out
}

func hooks(file string, n *yaml.Node) []Hook {
	list := items(n, "hooks")
	out := make([]Hook, 0, len(list))
	for _, h := range list {
		hook := Hook{place: place{file, h.Line}, Command: []string{scalarText(file, h, "command").value}}
		for _, e := range items(h, "events") {
			hook.Events = append(hook.Events, e.Value)
		}
		for _, a := range items(h, "args") {
			hook.Command = append(hook.Command, a.Value)
		}
		out = append(out, hook)
	}
	return out
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
		s := setting{place: place{file, item.Line}, field: field, name: scalarText(file, item, "name").value,
			value: scalarText(file, item, "value").value, file: scalarText(file, item, "file").value}
		for _, v := range items(item, "values") {
			each, err := valueOf(file, v, asHelmfile)
			if err != nil {
				s.unknown = &mark{reason: shortened(err.Error())}
				break
			}
			s.values = append(s.values, each.plain())
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
	if len(h.defaultInherit) > 0 {
		withDefaults.inherit = nil
		named := func(name string) func(inherit) bool {
			return func(i inherit) bool { return strings.TrimSpace(i.template.value) == name }
		}
		for _, d := range h.defaultInherit {
			if !slices.ContainsFunc(r.inherit, named(d.value)) && !slices.ContainsFunc(withDefaults.inherit, named(d.value)) {
				withDefaults.inherit = append(withDefaults.inherit, inherit{template: d})
			}
		}
		for _, i := range r.inherit {
			if strings.TrimSpace(i.template.value) != "" {
				withDefaults.inherit = append(withDefaults.inherit, i)
			}
		}
	}
	budget := min(maxInherited, h.inheritances)
	granted := budget
	out, err := h.inherit(&withDefaults, nil, &budget)
	h.inheritances -= granted - max(budget, 0)
	if out != nil {
		out.place = r.place
	}
	var cycle *circleError
	if errors.As(err, &cycle) {
		err = fmt.Errorf("unable to load release %q with template: %w", r.fields["name"].value, cycle)
	}
	return out, err
}

// How many templates a release may inherit from, directly and through others, and all releases of
// a file.
const (
	maxInherited    = 200
	maxInheritances = 20_000
)

var errInherits = errors.New("the releases inherit from more templates than a bootstrap needs")

// circleError is about templates that inherit from themselves.
type circleError struct{ path []string }

func (e *circleError) Error() string {
	return "cyclic inheritance detected: " + strings.Join(e.path, "->")
}

func (h *helmfile) inherit(r *rawRelease, path []string, budget *int) (*rawRelease, error) {
	out := &rawRelease{place: r.place, fields: map[string]text{}, pointers: map[string]*text{}, labels: map[string]text{}}
	name := r.fields["name"].value
	for _, i := range r.inherit {
		from := i.template.value
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
			r.labels = map[string]text{}
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
		case t.value != "" && (field != "installed" || isTrue(t.value)):
			*own = *t
		}
	}
	maps.Copy(r.labels, from.labels)
	r.values = append(r.values, from.values...)
	r.templated = append(r.templated, from.templated...)
	r.secrets = append(r.secrets, from.secrets...)
	r.set = append(r.set, from.set...)
	r.needs = append(r.needs, from.needs...)
	r.hooks = append(r.hooks, from.hooks...)
	r.args = append(r.args, from.args...)
	r.patches = append(r.patches, from.patches...)
	r.env = append(r.env, from.env...)
}

// isTrue says whether a scalar is the boolean true of YAML.
func isTrue(s string) bool { return s == "true" || s == "True" || s == "TRUE" }
