package helmfile

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// rawRelease is a release, or a release template, as written.
type rawRelease struct {
	finding.Place
	fields    map[string]located.Text // name, namespace, chart, version, …
	labels    map[string]located.Text
	inherit   []inherit
	values    []entry
	templated []entry // valuesTemplate
	secrets   []entry
	set       []setting
	needs     []located.Text
	args      []string       // postRendererArgs
	patches   []located.Text // fields that change what the chart renders
	hooks     []Hook
}

// inherit is an item of inherit: a template, and whether the release excludes some of its fields.
type inherit struct {
	template string
	except   bool
}

// setting is an item of set, setString, setTemplate or env.
type setting struct {
	finding.Place
	field, name, value string
	values             []string
	unknown            *located.Unknown
}

// releaseFields are the scalar fields of a release that are read, and templatedFields those that helmfile renders, in its
// order.
var (
	releaseFields = []string{"name", "chart", "namespace", "version", "valuesPathPrefix", "condition", "missingFileHandler",
		"postRenderer", "installed", "installedTemplate", "conditionTemplate", "devel", "plainHttp"}
	templatedFields = []string{"name", "chart", "namespace", "version"}
)

// patchFields are the fields that change the chart or its rendered objects.
var patchFields = []string{"jsonPatches", "strategicMergePatches", "transformers", "dependencies", "forceNamespace"}

func newRawRelease(file string, n *yaml.Node) *rawRelease {
	r := emptyRawRelease(finding.Place{File: file})
	if n == nil {
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
	if name, ok := r.fields["name"]; ok {
		r.Line = name.Line
	}
	located.ReadTexts(r.labels, file, repository.Lookup(n, "labels"))
	r.inherit = inherits(file, n)
	r.values = entries(file, n, "values")
	r.templated = entries(file, n, "valuesTemplate")
	r.secrets = entries(file, n, "secrets")
	for _, field := range settingFields {
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
	return r
}

func inherits(file string, n *yaml.Node) []inherit {
	list := located.Items(n, "inherit")
	if one := repository.Lookup(n, "inherit"); one != nil && one.Kind == yaml.MappingNode {
		list = []*yaml.Node{one}
	}
	out := make([]inherit, 0, len(list))
	for _, i := range list {
		out = append(out, inherit{located.ScalarText(file, i, "template").Value, len(located.Items(i, "except")) > 0})
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

// entry is an item of values: a map, or the path of a file.
type entry struct {
	finding.Place
	node *yaml.Node
}

// settingFields are the fields that set values on Helm's command line, in Helm's order.
var settingFields = []string{"setTemplate", "set", "setString", "env"}

func settings(file string, n *yaml.Node, field string) []setting {
	list := located.Items(n, field)
	out := make([]setting, 0, len(list))
	for _, item := range list {
		s := setting{Place: located.At(file, item.Line), field: field, name: located.ScalarText(file, item, "name").Value,
			value: located.ScalarText(file, item, "value").Value}
		if field == "setTemplate" || field == "env" || repository.Lookup(item, "file") != nil {
			s.unknown = &located.Unknown{Reason: fmt.Sprintf("values come from %s (%s:%d), which is not evaluated", field, file, item.Line)}
		}
		for _, v := range located.Items(item, "values") {
			if v.Kind != yaml.ScalarNode {
				s.unknown = &located.Unknown{Reason: fmt.Sprintf("%s:%d: a list or map in %s is not evaluated", file, v.Line, field)}
			}
			s.values = append(s.values, v.Value)
		}
		out = append(out, s)
	}
	return out
}

func emptyRawRelease(at finding.Place) *rawRelease {
	return &rawRelease{Place: at, fields: map[string]located.Text{}, labels: map[string]located.Text{}}
}
