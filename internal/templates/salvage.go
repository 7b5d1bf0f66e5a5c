package templates

import (
	"regexp"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
)

var control = regexp.MustCompile(`^(if|else|end|range|with|define|block|break|continue|/\*|\$[A-Za-z0-9_]*\s*(,\s*\$[A-Za-z0-9_]+\s*)?:?=)`)

// Salvage renders a template that helmfile refuses as far as possible: control actions are removed,
// the others are evaluated one by one, and an action that fails becomes a mark with the reason. The
// number of lines does not change.
func (e *Engine) Salvage(dir, source string, data any, cause error) string {
	actions := 0
	return action.ReplaceAllStringFunc(source, func(a string) string {
		lines := strings.Repeat("\n", strings.Count(a, "\n"))
		body := strings.TrimSpace(strings.Trim(strings.TrimSuffix(strings.TrimPrefix(a, "{{"), "}}"), "-"))
		if control.MatchString(body) {
			return lines
		}
		if actions++; actions < 1000 {
			alone := "{{ " + body + " }}"
			if out, err := e.Render(dir, alone, data); err == nil && !strings.Contains(out, "\n") {
				return out + lines
			}
		}
		return e.Mark(located.Unknown{Reason: TemplateFails + located.Shorten(withoutSecrets(cause.Error()))}) + lines
	})
}
