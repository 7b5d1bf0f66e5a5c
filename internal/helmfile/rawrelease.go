package helmfile

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// rawRelease is a release, or a release template, as written.
type rawRelease struct {
	located.Place
	fields map[string]located.Text // name, namespace, chart, version, …
	// pointers are the fields that helmfile holds behind a pointer: one that a
	// template sets is shared by all that inherit it.
	pointers  map[string]*located.Text
	labels    map[string]located.Text
	inherit   []inherit
	values    []entry
	templated []entry // valuesTemplate
	secrets   []entry
	set       []setting
	needs     []located.Text
	args      []string       // postRendererArgs
	patches   []located.Text // fields that change what the chart renders
	env       []located.Text
	hooks     []Hook
	// reads are the files that the helmfile's own template read for the release.
	reads map[string]bool
}

type inherit struct {
	template located.Text
	except   []string
}

// setting is an item of set, setString or setTemplate.
type setting struct {
	located.Place
	field             string // "set", "setString" or "setTemplate"
	name, value, file string
	values            []any
	unknown           *located.Unknown
}

// releaseFields are the scalar fields of a release that are read, and
// templatedFields those that helmfile renders, in its order.
var (
	releaseFields   = []string{"name", "chart", "namespace", "version", "valuesPathPrefix", "condition"}
	templatedFields = []string{"name", "chart", "namespace", "version"}
)

// pointerFields are the scalar fields behind a pointer.
var pointerFields = []string{"missingFileHandler", "postRenderer", "installed", "installedTemplate", "conditionTemplate",
	"verifyTemplate", "waitTemplate", "devel", "plainHttp"}

// patchFields are those that change the chart, or what it renders.
var patchFields = []string{"jsonPatches", "strategicMergePatches", "transformers", "dependencies", "forceNamespace"}

func newRawRelease(file string, n *yaml.Node) *rawRelease {
	r := &rawRelease{fields: map[string]located.Text{}, pointers: map[string]*located.Text{}, labels: map[string]located.Text{}}
	if n == nil {
		r.Place = located.Place{File: file}
		return r
	}
	r.Place = located.At(file, n.Line)
	for _, field := range releaseFields {
		if t := located.ScalarText(file, n, field); t.Value != "" {
			r.fields[field] = t
		} else if v := repository.Lookup(n, field); v != nil && len(v.Content) > 0 {
			r.fields[field] = located.Text{Place: located.At(file, v.Line), Unknown: &located.Unknown{Reason: fmt.Sprintf("its %s is a list or a map, not a string", field)}}
		}
	}
	for _, field := range pointerFields {
		if v := repository.Lookup(n, field); v != nil && v.ShortTag() != "!!null" {
			t := located.ScalarText(file, n, field)
			r.pointers[field] = &t
		}
	}
	if name, ok := r.fields["name"]; ok {
		r.Line = name.Line
	}
	located.ReadTexts(r.labels, file, repository.Lookup(n, "labels"))
	r.inherit = inherits(file, n)
	r.values = entries(file, n, "values")
	r.templated = entries(file, n, "valuesTemplate")
	r.secrets = entries(file, n, "secrets")
	for _, field := range []string{"setTemplate", "set", "setString"} {
		r.set = append(r.set, settings(file, n, field)...)
	}
	for _, need := range located.Items(n, "needs") {
		r.needs = append(r.needs, located.Text{Place: located.At(file, need.Line), Value: need.Value})
	}
	for _, arg := range located.Items(n, "postRendererArgs") {
		r.args = append(r.args, arg.Value)
	}
	for _, field := range patchFields {
		if v := repository.Lookup(n, field); v != nil && (len(v.Content) > 0 || v.Kind == yaml.ScalarNode && v.Value != "") {
			r.patches = append(r.patches, located.Text{Place: located.At(file, v.Line), Value: field})
		}
	}
	r.hooks = hooksOf(file, n)
	for _, env := range located.Items(n, "env") {
		r.env = append(r.env, located.Text{Place: located.At(file, env.Line), Value: located.ScalarText(file, env, "name").Value})
	}
	return r
}

func inherits(file string, n *yaml.Node) []inherit {
	list := located.Items(n, "inherit")
	if one := repository.Lookup(n, "inherit"); one != nil && one.Kind == yaml.MappingNode {
		list = []*yaml.Node{one}
	}
	out := make([]inherit, 0, len(list))
	for _, i := range list {
		from := inherit{template: located.ScalarText(file, i, "template")}
		for _, e := range located.Items(i, "except") {
			from.except = append(from.except, e.Value)
		}
		out = append(out, from)
	}
	return out
}

func entries(file string, n *yaml.Node, field string) []entry {
	list := located.Items(n, field)
	out := make([]entry, 0, len(list))
	for _, item := range list {
		out = append(out, entry{located.At(file, item.Line), item})
	}
	return out
}

func settings(file string, n *yaml.Node, field string) []setting {
	list := located.Items(n, field)
	out := make([]setting, 0, len(list))
	for _, item := range list {
		s := setting{Place: located.At(file, item.Line), field: field, name: located.ScalarText(file, item, "name").Value,
			value: located.ScalarText(file, item, "value").Value, file: located.ScalarText(file, item, "file").Value}
		for _, v := range located.Items(item, "values") {
			each, err := located.ValueOf(file, v, located.AsHelmfile)
			if err != nil {
				s.unknown = &located.Unknown{Reason: located.Shorten(err.Error())}
				break
			}
			s.values = append(s.values, each.Plain())
		}
		out = append(out, s)
	}
	return out
}

// entry is an item of values: a map, or the path of a file.
type entry struct {
	located.Place
	node *yaml.Node
}
