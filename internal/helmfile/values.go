package helmfile

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// values computes the release's values as helmfile hands them to Helm.
func (e *evaluation) values(r *Release) located.Layers {
	start := located.EmptyMap(e.raw.Place)
	l := located.Layers{Value: start, Sure: start}
	for _, each := range e.raw.templated {
		e.addTemplated(r, &l, each)
	}
	for _, each := range e.raw.values {
		e.addEntry(r, &l, each)
	}
	for _, s := range e.raw.secrets {
		name := s.node.Value
		if s.node.Kind != yaml.ScalarNode {
			name = "in the helmfile"
		}
		l.AddUnknown(located.Unknown{Reason: "values come from the encrypted file " + name})
	}
	l.Files = l.Value
	e.addSettings(&l)
	return l
}

// addTemplated adds an entry of valuesTemplate. A map is converted to YAML and rendered.
func (e *evaluation) addTemplated(r *Release, l *located.Layers, each entry) {
	if each.node.Kind != yaml.MappingNode {
		e.addEntry(r, l, each)
		return
	}
	v, err := located.ValueOf(each.File, each.node, located.AsHelmfile)
	if err != nil {
		l.AddUnknown(located.Unknown{Reason: located.Shorten(err.Error())})
		return
	}
	source, err := templates.ToYAML(v.Plain())
	if err != nil {
		l.AddUnknown(located.Unknown{Reason: located.Shorten(err.Error())})
		return
	}
	rendered, err := e.Render(e.h.dir, source, e.data())
	if err != nil {
		l.AddUnknown(*e.failed(each.Place, err))
		return
	}
	e.addText(l, each.Place, rendered, located.AsHelmfile, func(int) int { return each.Line })
}

// addEntry adds an entry of values: a literal map, or the path of a file.
func (e *evaluation) addEntry(r *Release, l *located.Layers, each entry) {
	switch {
	case each.node.Kind == yaml.MappingNode:
		v, err := located.ValueOf(each.File, each.node, located.AsHelmfile)
		if err != nil {
			l.AddUnknown(located.Unknown{Reason: located.Shorten(err.Error())})
			return
		}
		e.addValue(l, v)
	case each.node.Kind == yaml.ScalarNode && each.node.ShortTag() == "!!str":
		e.addFile(r, l, e.text(located.Text{Place: each.Place, Value: each.node.Value}))
	default:
		const reason = "an entry of values must be a map or the path of a file"
		e.h.refuse(each.Place, reason)
		l.AddUnknown(located.Unknown{Reason: fmt.Sprintf("%s:%d: %s", each.File, each.Line, reason)})
	}
}

// addFile adds the file that an entry of values names.
func (e *evaluation) addFile(r *Release, l *located.Layers, t located.Text) {
	gone := func(m located.Unknown) {
		if m.Missing != "" {
			e.Reads[m.Missing] = false
			// What the template reads is unknown. The entry itself is known, unless it depends on the environment.
			absent := located.Text{Place: t.Place, Value: m.Missing}
			if t.Unknown != nil && t.Unknown.Missing != "" {
				absent.Unknown = t.Unknown
			}
			l.Missing = append(l.Missing, absent)
		}
		l.AddUnknown(m)
	}
	if t.Unknown != nil && (t.Value == "" || t.Unknown.Missing != "") {
		gone(*t.Unknown)
		return
	}
	handler := e.missingFileHandler()
	p, bad := e.Locate("values come from", e.h.dir, e.fields["valuesPathPrefix"].Value+t.Value)
	if bad.Reason != "" {
		gone(bad)
		return
	}
	found := e.Matching(p)
	switch {
	case len(found) == 0 && handler != "Error":
		return
	case len(found) > 1:
		reason := "helmfile refuses a pattern that matches several values files: " + t.Value
		e.h.refuse(t.Place, reason)
		l.AddUnknown(located.Unknown{Reason: reason})
		return
	case len(found) == 1:
		p = found[0]
	}
	data, bad := e.readValues(p)
	if bad.Reason != "" {
		if bad.Missing != "" {
			e.h.refuseAbsent(t.Place, bad.Reason)
		}
		gone(bad)
		return
	}
	e.addExisting(r, l, t, p, string(data))
}

// missingFileHandler returns how helmfile handles a missing values file: by default it fails.
func (e *evaluation) missingFileHandler() string {
	return cmp.Or(e.fields["missingFileHandler"].Value, e.h.missingFiles.Value, "Error")
}

// addExisting adds a values file. A *.gotmpl file is rendered, and reads files relative to its own folder.
func (e *evaluation) addExisting(r *Release, l *located.Layers, t located.Text, p, content string) {
	line := func(n int) int { return n }
	at := located.At(p, 1)
	if strings.HasSuffix(p, ".gotmpl") {
		rendered, err := e.Render(path.Dir(p), content, e.fileData(r))
		if err != nil {
			m := e.failed(located.At(p, templates.LineOf(err)), err)
			if m.Missing != "" {
				l.Missing = append(l.Missing, located.Text{Place: t.Place, Value: m.Missing, Unknown: m})
			}
			l.AddUnknown(*m)
			return
		}
		if m, bad := e.Marked(rendered); bad && m.Missing != "" {
			e.refuseMissing(located.At(p, 1), m)
			l.Missing = append(l.Missing, located.Text{Place: t.Place, Value: m.Missing, Unknown: &m})
		}
		lines := templates.AlignLines(content, rendered)
		line = func(n int) int { return lines[min(max(n, 1), len(lines))-1] }
		content = rendered
	}
	e.addText(l, at, content, located.AsHelm, line)
}

// addText adds values from a string of YAML.
func (e *evaluation) addText(l *located.Layers, at finding.Place, content string, how located.Reading, line func(int) int) {
	nodes, err := located.Parse(at.File, content)
	switch {
	case err != nil:
		if _, theirs := templates.DecodeYAML(content); theirs != nil {
			e.h.refuseIf(!strings.Contains(content, templates.MarkOpen), located.At(at.File, line(1)), "the values are not YAML: "+located.Shorten(theirs.Error()))
		}
		l.AddUnknown(located.Unknown{Reason: "the values are not YAML: " + located.Shorten(err.Error())})
		return
	case len(nodes) == 0:
		return
	}
	located.ShiftLines(nodes[:1], line)
	v, err := located.ValueOf(at.File, nodes[0], how)
	if err != nil {
		l.AddUnknown(located.Unknown{Reason: located.Shorten(err.Error())})
		return
	}
	if text, ok := v.Scalar.(string); ok {
		if m, bad := e.Marked(text); bad {
			l.AddUnknown(m)
			return
		}
	}
	if !v.IsMap {
		if v.IsList || v.Scalar != nil {
			l.AddUnknown(located.Unknown{Reason: at.File + ": the values are not a map"})
		}
		return
	}
	if repository.Lookup(nodes[0], "sops", "mac") != nil {
		l.AddUnknown(located.Unknown{Reason: "values come from the encrypted file " + at.File})
		return
	}
	e.addValue(l, v)
}

// addValue adds a layer. References that helmfile resolves with vals are unknown.
func (e *evaluation) addValue(l *located.Layers, v *located.Value) {
	if m, bad := e.MarkedKey(v); bad {
		l.AddUnknown(m) // for all keys
		return
	}
	v = v.MapScalars(func(s *located.Value) *located.Value {
		if t, ok := s.Scalar.(string); ok && strings.HasPrefix(t, "ref+") {
			out := *s
			out.Scalar = e.Mark(located.Unknown{Reason: "values come from a secret store (ref+…)"})
			return &out
		}
		return s
	})
	l.Add(v)
}
