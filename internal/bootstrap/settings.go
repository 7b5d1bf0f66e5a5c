package bootstrap

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/strvals"
)

// addSettings adds what set, setTemplate, setString and env give Helm on its
// command line: --set before --set-string before --set-file.
func (e *evaluation) addSettings(l *layered) {
	order := map[string]int{"setTemplate": 0, "set": 1, "setString": 2}
	all := slices.Clone(e.raw.set)
	slices.SortStableFunc(all, func(a, b setting) int { return cmp.Compare(order[a.field], order[b.field]) })
	var files []setting
	for _, s := range all {
		if s = e.rendered(s); s.value == "" && s.file != "" && s.unknown == nil {
			files = append(files, s)
			continue
		}
		e.addSetting(l, s)
	}
	for _, env := range e.raw.env {
		m := e.mark(mark{reason: fmt.Sprintf("values come from the environment (env, %s:%d)", env.file, env.line)})
		e.addSetting(l, setting{place: env.place, field: "setString", name: env.value, value: m})
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
		t := e.text(text{place: s.place, value: *part})
		if t.unknown != nil && (part != &s.value || t.value == "") {
			s.unknown = t.unknown
		}
		*part = t.value
	}
	values := slices.Clone(s.values)
	for i, v := range values {
		if source, ok := v.(string); ok {
			t := e.text(text{place: s.place, value: source})
			if values[i] = t.value; t.unknown != nil {
				s.unknown = t.unknown
			}
		}
	}
	s.values = values
	return s
}

// addSetting adds one --set or --set-string, parsed by Helm itself.
func (e *evaluation) addSetting(l *layered, s setting) {
	if s.unknown != nil {
		l.addUnknown(*s.unknown)
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
					l.addUnknown(mark{reason: shortened(err.Error())})
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
		given = e.mark(mark{reason: "values come from a secret store (ref+…)"})
	}
	if err := l.created.AddLine(s.name, given); err != nil {
		e.exceed(err)
		l.addUnknown(mark{reason: fmt.Sprintf("%s is not evaluated: %v", s.field, err)})
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
func (e *evaluation) addSettingFile(l *layered, s setting) {
	p, bad := e.locate("values come from", e.h.dir, s.file)
	var data []byte
	if bad.reason == "" {
		data, bad = e.read(p)
	}
	if bad.reason != "" {
		if bad.missing != "" {
			l.missing = append(l.missing, text{place: s.place, value: bad.missing, unknown: &bad})
		}
		l.addUnknown(bad)
		return
	}
	if err := l.created.Add(s.name); err != nil {
		e.exceed(err)
		l.addUnknown(mark{reason: fmt.Sprintf("%s is not evaluated: %v", s.field, err)})
		return
	}
	e.parse(l, s, func(into map[string]any) error {
		return strvals.ParseIntoFile(escapedSetting(s.name)+"="+path.Base(p), into,
			func([]rune) (any, error) { return string(data), nil })
	})
}

// parse lets Helm's parser change the values so far, and takes over what it
// changed.
func (e *evaluation) parse(l *layered, s setting, with func(into map[string]any) error) {
	for _, v := range []**value{&l.value, &l.sure} {
		plain, _ := (*v).plain().(map[string]any)
		if err := with(plain); err != nil {
			e.h.phase = installing
			e.h.refuse(s.place, fmt.Sprintf("failed parsing --set data: %s", shortened(err.Error())))
			e.h.phase = executing
			l.addUnknown(mark{reason: fmt.Sprintf("helm refuses %s %q: %s", s.field, s.name, shortened(err.Error()))})
			return
		}
		*v = placed(*v, plain, s.place)
	}
}

// placed makes a value of plain Go values: what is as before keeps its place, the
// rest gets the place at.
func placed(before *value, plain any, at place) *value {
	switch plain := plain.(type) {
	case map[string]any:
		out := emptyMap(at)
		if before != nil && before.isMap {
			out.place = before.place
		}
		for k, v := range plain {
			out.fields[k] = placed(before.at(k), v, at)
		}
		return out
	case []any:
		out := &value{place: at, isList: true}
		for i, v := range plain {
			var old *value
			if before != nil && before.isList && i < len(before.items) {
				old = before.items[i]
				out.place = before.place
			}
			out.items = append(out.items, placed(old, v, at))
		}
		return out
	}
	if before != nil && !before.isMap && !before.isList && sameScalar(before.scalar, plain) {
		return before
	}
	return &value{place: at, scalar: plain}
}

// escapedSetting keeps a value from being taken for a list, as helmfile does.
func escapedSetting(s string) string {
	return strings.NewReplacer("{", `\{`, "}", `\}`, ",", `\,`).Replace(s)
}

// setScalar types a value as helm --set does (pkg/strvals).
func setScalar(s string) any {
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

func orText(a, b string) string { return cmp.Or(a, b) }
