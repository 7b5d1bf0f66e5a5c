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

// run evaluates the fields. They may refer to each other through .Release, so helmfile repeats the evaluation until nothing
// changes, at most six times.
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

// open reports whether templates of the release may read unknown values.
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

// allLabels returns the labels with those that helmfile adds once the fields are known.
func (e *evaluation) allLabels(namespace string) map[string]string {
	all := maps.Clone(e.labels)
	chart := e.fields["chart"].Value
	all["name"], all["namespace"], all["chart"] = e.fields["name"].Value, namespace, chart[strings.LastIndex(chart, "/")+1:]
	return all
}

// data returns the data of the templates in the helmfile.
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

// fileData returns the data of the templates of values files.
func (e *evaluation) fileData(r *Release) templates.ReleaseData {
	d := e.data()
	d.Release.Namespace, d.Release.Labels = r.Namespace.Value, maps.Clone(r.labels)
	return d
}

// text evaluates a template expression, relative to the helmfile's folder.
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

// known marks a string as unknown if it contains an unknown value.
func (e *evaluation) known(t located.Text) located.Text {
	if m, bad := e.Marked(t.Value); bad {
		t.Unknown = &m
		e.refuseMissing(t.Place, m)
	}
	return t
}

// refuseMissing records that helmfile fails because of a missing file.
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

// failed returns why a template failed. A missing file, or values that cannot be read, are the cause of all that fails after
// them.
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

// innermost returns the position in the template that a failing template reads and evaluates, as with
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

// innerTemplate matches the error of a template that was read from a file.
// Source: text/template exec.go, and helmfile's pkg/tmpl, which names every template stringTemplate.
var innerTemplate = regexp.MustCompile(`<.*\btpl \(readFile "([^"]+)"\).*>: error calling tpl: template: stringTemplate:(\d+):`)
