package rule

import (
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// scrub leaves out of all messages the values that source lines hide: errors of parsers and of
// kustomize quote what they stumble over. What variables carry from Secrets into names is left out of
// them, too.
func (out *Outcome) scrub(lines *repository.Lines) {
	for i := range out.Findings {
		f := &out.Findings[i]
		f.Object.Namespace, f.Object.Name = lines.Without(f.Object.Namespace), lines.Without(f.Object.Name)
		for _, text := range []*string{&f.Message, &f.Hint, &f.Cause} {
			*text = scrubbed(lines, f.File, f.Rule, *text)
		}
		if f.Declared != (finding.Place{}) && f.Declared.File != f.File {
			f.Message = lines.Scrub(f.Declared.File, f.Message)
		}
	}
	for i := range out.Unresolved {
		u := &out.Unresolved[i]
		for _, text := range []*string{&u.Reason, &u.Question, &u.Cause} {
			*text = scrubbed(lines, u.File, u.Rule, *text)
		}
	}
}

// building are the rules that tell what kustomize and Helm say.
var building = map[string]bool{"flux-build-failed": true, "flux-helm-failed": true, "flux-helm-values": true}

func scrubbed(lines *repository.Lines, file, rule, text string) string {
	if text == "" {
		return ""
	}
	if text = lines.Scrub(file, text); building[rule] {
		text = lines.ScrubBuilt(text)
	}
	return text
}
