package rule

import (
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// scrub removes secret values of the source files from all messages, because errors of parsers and of kustomize
// quote their input. It also removes values that substitution copies from Secrets into names.
func (out *Outcome) scrub(lines *repository.Lines) {
	for i := range out.Findings {
		scrubFinding(lines, &out.Findings[i])
	}
	for i := range out.Ignored {
		scrubFinding(lines, &out.Ignored[i].Finding)
	}
	if c := out.Coverage; c != nil {
		scrubUnreached(lines, c.Unreached)
		for i := range c.Clusters {
			scrubUnreached(lines, c.Clusters[i].Unreached)
		}
	}
	for i := range out.Unresolved {
		u := &out.Unresolved[i]
		for _, text := range []*string{&u.Reason, &u.Question, &u.Cause} {
			*text = scrubbed(lines, u.File, u.Rule, *text)
		}
	}
}

// scrubUnreached does the same for the objects that no cluster reaches.
func scrubUnreached(lines *repository.Lines, all []finding.Unreached) {
	for i := range all {
		u := &all[i]
		u.Object.Namespace, u.Object.Name = lines.Without(u.Object.Namespace), lines.Without(u.Object.Name)
		u.Reason = lines.ScrubBuilt(lines.Without(lines.Scrub(u.File, u.Reason)))
	}
}

// scrubFinding removes secret values of the source files from a finding.
func scrubFinding(lines *repository.Lines, f *finding.Finding) {
	f.Object.Namespace, f.Object.Name = lines.Without(f.Object.Namespace), lines.Without(f.Object.Name)
	for _, text := range []*string{&f.Message, &f.Hint, &f.Cause} {
		*text = scrubbed(lines, f.File, f.Rule, *text)
	}
	if f.Declared != (finding.Place{}) && f.Declared.File != f.File {
		f.Message = lines.Scrub(f.Declared.File, f.Message)
	}
}

// building are the rules whose messages contain errors of kustomize or Helm.
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
