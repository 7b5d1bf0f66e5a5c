package helmfile

import (
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/strvals"

	"github.com/fleetwright/fleetwright/internal/located"
)

// addSettings adds the values that set and setString pass to Helm on its command line.
func (e *evaluation) addSettings(l *located.Layers) {
	for _, field := range settingFields {
		for _, s := range e.raw.set {
			if s.field == field {
				e.addSetting(l, s)
			}
		}
	}
}

// addSetting adds one --set or --set-string, parsed by Helm's own parser.
func (e *evaluation) addSetting(l *located.Layers, s setting) {
	if s.unknown != nil {
		l.AddUnknown(*s.unknown)
		return
	}
	argument := escapedSetting(s.value)
	switch {
	case strings.HasPrefix(s.value, "ref+"):
		argument = e.Mark(located.Unknown{Reason: "values come from a secret store (ref+…)"})
	case s.value == "" && len(s.values) == 0:
		return
	case s.value == "":
		list := slices.Clone(s.values)
		for i := range list {
			list[i] = escapedSetting(list[i])
		}
		argument = "{" + strings.Join(list, ",") + "}"
	}
	if err := l.Created.AddLine(s.name, argument); err != nil {
		e.Exceed(err)
		l.AddUnknown(located.Unknown{Reason: fmt.Sprintf("%s was not evaluated: %v", s.field, err)})
		return
	}
	parse := strvals.ParseInto
	if s.field == "setString" {
		parse = strvals.ParseIntoString
	}
	for _, v := range []**located.Value{&l.Value, &l.Sure} {
		plain, _ := (*v).Plain().(map[string]any)
		if err := parse(escapedSetting(s.name)+"="+argument, plain); err != nil {
			reason := fmt.Sprintf("helm refuses %s %q: %s", s.field, s.name, located.Shorten(err.Error()))
			e.h.refuse(s.Place, reason)
			l.AddUnknown(located.Unknown{Reason: reason})
			return
		}
		*v = located.Placed(*v, plain, s.Place)
	}
}

// escapedSetting escapes a value that Helm would otherwise parse as a list, as helmfile does.
func escapedSetting(s string) string {
	return strings.NewReplacer("{", `\{`, "}", `\}`, ",", `\,`).Replace(s)
}
