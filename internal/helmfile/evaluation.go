package helmfile

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// evaluation computes the fields and values of one release.
type evaluation struct {
	*reader
	h      *helmfile
	raw    *rawRelease
	fields map[string]located.Text
	labels map[string]string
}

// run evaluates the fields. They may refer to each other through .Release, so
// helmfile repeats it until nothing changes, up to six times.
func (e *evaluation) run() {
	e.fields, e.labels = e.raw.fields, map[string]string{}
	for k, t := range e.ownLabels() {
		e.labels[k] = t.Value
	}
	for range 6 {
		fields, labels := map[string]located.Text{}, map[string]string{}
		for _, k := range releaseFields {
			if t, set := e.raw.fields[k]; set && slices.Contains(templatedFields, k) {
				fields[k] = e.trimmed(t)
			} else if set {
				fields[k] = e.known(t)
			}
		}
		all := e.ownLabels()
		for _, k := range slices.Sorted(maps.Keys(all)) {
			labels[k] = e.text(all[k]).Value
		}
		same := maps.EqualFunc(e.fields, fields, func(a, b located.Text) bool { return a.Value == b.Value }) &&
			maps.Equal(e.labels, labels)
		e.fields, e.labels = fields, labels
		if same {
			return
		}
	}
	m := located.Unknown{Reason: "the fields of the release refer to each other endlessly"}
	e.h.refuseIf(!e.open(), e.raw.Place, m.Reason)
	for k, t := range e.fields {
		if strings.Contains(e.raw.fields[k].Value, "{{") {
			t.Unknown = &m
			e.fields[k] = t
		}
	}
}

// open says whether templates of the release may see values that are not known.
func (e *evaluation) open() bool {
	for _, t := range e.fields {
		if t.Unknown != nil || strings.Contains(t.Value, templates.MarkOpen) {
			return true
		}
	}
	for _, label := range e.labels {
		if strings.Contains(label, templates.MarkOpen) {
			return true
		}
	}
	return e.h.env.open()
}

func (e *evaluation) ownLabels() map[string]located.Text {
	all := maps.Clone(e.raw.labels)
	maps.Copy(all, e.h.commonLabels)
	return all
}

// allLabels are the labels with those that helmfile adds once the fields are
// known.
func (e *evaluation) allLabels(namespace string) map[string]string {
	all := maps.Clone(e.labels)
	chart := e.fields["chart"].Value
	all["name"], all["namespace"], all["chart"] = e.fields["name"].Value, namespace, chart[strings.LastIndex(chart, "/")+1:]
	return all
}

// data is what the templates in the helmfile see.
func (e *evaluation) data() templates.ReleaseData {
	d := templates.ReleaseData{
		Environment: e.h.env.data(), Values: templates.Copied(e.h.values),
		Release: templates.ReleaseInfo{Name: e.fields["name"].Value, Namespace: e.fields["namespace"].Value,
			Chart: e.fields["chart"].Value, ChartVersion: e.fields["version"].Value, Labels: maps.Clone(e.labels)},
		Namespace: e.h.namespace.Value,
	}
	d.StateValues = &d.Values
	return d
}

// fileData is what the templates of values files see.
func (e *evaluation) fileData(r *Release) templates.ReleaseData {
	d := e.data()
	d.Release.Namespace, d.Release.Labels = r.Namespace.Value, maps.Clone(r.labels)
	return d
}

// text evaluates one template expression, relative to the helmfile's folder.
func (e *evaluation) text(t located.Text) located.Text {
	if !strings.Contains(t.Value, "{{") {
		return e.known(t)
	}
	out, err := e.Render(e.h.dir, t.Value, e.data())
	if err != nil {
		return located.Text{Place: t.Place, Unknown: e.failed(t.Place, err)}
	}
	t.Value = out
	return e.known(t)
}

// known notes what a text depends on that is unknown.
func (e *evaluation) known(t located.Text) located.Text {
	if m, bad := e.Marked(t.Value); bad {
		t.Unknown = &m
		e.refuseMissing(t.Place, m)
	}
	return t
}

// refuseMissing notes that helmfile stops at a file that isn't there.
func (e *evaluation) refuseMissing(at finding.Place, m located.Unknown) {
	if m.Missing != "" {
		e.Reads[m.Missing] = false
		e.h.refuseAbsent(at, m.Reason)
	}
}

func (e *evaluation) trimmed(t located.Text) located.Text {
	t = e.text(t)
	t.Value = strings.TrimSpace(t.Value)
	return t
}

// failed says why a template failed: a file that isn't there, or values that
// cannot be read, are the cause of what fails after it.
func (e *evaluation) failed(at finding.Place, err error) *located.Unknown {
	for _, p := range slices.Sorted(maps.Keys(e.Reads)) {
		if !e.Reads[p] {
			m := located.Unknown{Reason: fmt.Sprintf("the file %s %s", p, templates.Absence(p)), Missing: p}
			e.refuseMissing(at, m)
			return &m
		}
	}
	var unknown *templates.UnknownError
	if errors.As(err, &unknown) {
		return &unknown.Mark
	}
	if e.h.env.lacks(err) {
		m := e.h.env.unknown[0]
		return &m
	}
	reason := templates.Reason(err)
	if templates.IsUndecided(err) {
		return &located.Unknown{Reason: reason}
	}
	stops := e.Certain && !e.open()
	e.h.refuseIf(stops, e.innermost(at, err), reason)
	return &located.Unknown{Reason: templates.TemplateFails + reason, Stops: stops}
}

// innermost is the line of the template that a failing one reads and evaluates, such as
// tpl (readFile "release.gotmpl"): the failure is there.
func (e *evaluation) innermost(at finding.Place, err error) finding.Place {
	m := innerTemplate.FindStringSubmatch(err.Error())
	if m == nil {
		return at
	}
	line, wrong := strconv.Atoi(m[2])
	for _, dir := range []string{e.h.dir, path.Dir(at.File)} {
		if p, bad := e.Locate("", dir, m[1]); wrong == nil && bad.Reason == "" && e.Files.Exists(p) {
			return located.At(p, line)
		}
	}
	return at
}

// innerTemplate matches the error of a template whose text is that of a file.
// Source: text/template exec.go, and helmfile's pkg/tmpl, which names all texts stringTemplate.
var innerTemplate = regexp.MustCompile(`<.*\btpl \(readFile "([^"]+)"\).*>: error calling tpl: template: stringTemplate:(\d+):`)
