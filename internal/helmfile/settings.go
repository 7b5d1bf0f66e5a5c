package helmfile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/strvals"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// addSettings adds what set, setTemplate, setString and env give Helm on its
// command line: --set before --set-string before --set-file.
func (e *evaluation) addSettings(l *located.Layers) {
	order := map[string]int{"setTemplate": 0, "set": 1, "setString": 2}
	all := slices.Clone(e.raw.set)
	sorting.StableFunc(all, func(a, b setting) int { return cmp.Compare(order[a.field], order[b.field]) })
	var files []setting
	for _, s := range all {
		if s = e.rendered(s); s.value == "" && s.file != "" && s.unknown == nil {
			files = append(files, s)
			continue
		}
		e.addSetting(l, s)
	}
	for _, env := range e.raw.env {
		m := e.Mark(located.Unknown{Reason: fmt.Sprintf("values come from the environment (env, %s:%d)", env.File, env.Line)})
		e.addSetting(l, setting{Place: env.Place, field: "setString", name: env.Value, value: m})
	}
	for _, s := range files {
		e.addSettingFile(l, s)
	}
}

// rendered evaluates the parts of a setTemplate.
func (e *evaluation) rendered(s setting) setting {
	if s.field != "setTemplate" {
		return s
	}
	for _, part := range []*string{&s.name, &s.value, &s.file} {
		t := e.text(located.Text{Place: s.Place, Value: *part})
		if t.Unknown != nil && (part != &s.value || t.Value == "") {
			s.unknown = t.Unknown
		}
		*part = t.Value
	}
	values := slices.Clone(s.values)
	for i, v := range values {
		if source, ok := v.(string); ok {
			t := e.text(located.Text{Place: s.Place, Value: source})
			if values[i] = t.Value; t.Unknown != nil {
				s.unknown = t.Unknown
			}
		}
	}
	s.values = values
	return s
}

// addSetting adds one --set or --set-string, parsed by Helm itself.
func (e *evaluation) addSetting(l *located.Layers, s setting) {
	if s.unknown != nil {
		l.AddUnknown(*s.unknown)
		return
	}
	var given string
	switch {
	case s.value != "":
		given = escapedSetting(s.value)
	case len(s.values) > 0:
		list := make([]string, len(s.values))
		for i, v := range s.values {
			text, ok := v.(string)
			if !ok {
				data, err := json.Marshal(v)
				if err != nil {
					l.AddUnknown(located.Unknown{Reason: located.Shorten(err.Error())})
					return
				}
				text = string(data)
			}
			list[i] = escapedSetting(text)
		}
		given = "{" + strings.Join(list, ",") + "}"
	default:
		return
	}
	if strings.HasPrefix(s.value, "ref+") {
		given = e.Mark(located.Unknown{Reason: "values come from a secret store (ref+…)"})
	}
	if err := l.Created.AddLine(s.name, given); err != nil {
		e.Exceed(err)
		l.AddUnknown(located.Unknown{Reason: fmt.Sprintf("%s was not evaluated: %v", s.field, err)})
		return
	}
	e.parse(l, s, func(into map[string]any) error {
		line := escapedSetting(s.name) + "=" + given
		if s.field == "setString" {
			return strvals.ParseIntoString(line, into)
		}
		return strvals.ParseInto(line, into)
	})
}

// addSettingFile adds one --set-file: the value is the text of a file.
func (e *evaluation) addSettingFile(l *located.Layers, s setting) {
	p, bad := e.Locate("values come from", e.h.dir, s.file)
	var data []byte
	if bad.Reason == "" {
		data, bad = e.Read(p)
	}
	if bad.Reason != "" {
		if bad.Missing != "" {
			l.Missing = append(l.Missing, located.Text{Place: s.Place, Value: bad.Missing, Unknown: &bad})
		}
		l.AddUnknown(bad)
		return
	}
	if err := l.Created.Add(s.name); err != nil {
		e.Exceed(err)
		l.AddUnknown(located.Unknown{Reason: fmt.Sprintf("%s was not evaluated: %v", s.field, err)})
		return
	}
	e.parse(l, s, func(into map[string]any) error {
		return strvals.ParseIntoFile(escapedSetting(s.name)+"="+path.Base(p), into,
			func([]rune) (any, error) { return string(data), nil })
	})
}

// parse lets Helm's parser change the values so far, and takes over what it
// changed.
func (e *evaluation) parse(l *located.Layers, s setting, with func(into map[string]any) error) {
	for _, v := range []**located.Value{&l.Value, &l.Sure} {
		plain, _ := (*v).Plain().(map[string]any)
		if err := with(plain); err != nil {
			e.h.phase = installing
			e.h.refuse(s.Place, fmt.Sprintf("failed parsing --set data: %s", located.Shorten(err.Error())))
			e.h.phase = executing
			l.AddUnknown(located.Unknown{Reason: fmt.Sprintf("helm refuses %s %q: %s", s.field, s.name, located.Shorten(err.Error()))})
			return
		}
		*v = located.Placed(*v, plain, s.Place)
	}
}

// escapedSetting keeps a value from being taken for a list, as helmfile does.
func escapedSetting(s string) string {
	return strings.NewReplacer("{", `\{`, "}", `\}`, ",", `\,`).Replace(s)
}

// SetScalar types a value as helm --set does (pkg/strvals).
func SetScalar(s string) any {
	switch {
	case strings.EqualFold(s, "true"):
		return true
	case strings.EqualFold(s, "false"):
		return false
	case strings.EqualFold(s, "null"):
		return nil
	case s == "0":
		return int64(0)
	}
	if s != "" && s[0] != '0' {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
	}
	return s
}
