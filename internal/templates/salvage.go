package templates

import (
	"github.com/fleetwright/fleetwright/internal/located"
	"regexp"
	"strings"
)

var control = regexp.MustCompile(`^(if|else|end|range|with|define|block|break|continue|/\*|\$[A-Za-z0-9_]*\s*(,\s*\$[A-Za-z0-9_]+\s*)?:?=)`)

// Salvage reads a template that helmfile refuses as far as it can be: control
// actions are left out, the others are evaluated one by one, and what fails
// becomes a mark with the reason. It keeps the number of lines.
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
