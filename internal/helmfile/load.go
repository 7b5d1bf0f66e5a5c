package helmfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// load reads the parts of a file, one after the other. As in helmfile, lines of three dashes separate the parts, a part sees the
// values of the parts before it, and its lists replace theirs. Parts that cannot be read are skipped.
func (r *reader) load(file, dir string, env, override *environment, asBase bool) (*helmfile, error) {
	data, err := r.repo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	// Files that the helmfile itself reads do not belong to a release.
	r.Reads = map[string]bool{}
	whole := strings.ReplaceAll(string(data), "\r\n", "\n")
	out := newHelmfile(file, dir)
	out.checkOrder(whole)
	offset := 0
	for i, part := range strings.Split(whole, "\n---\n") {
		current := r.part(out, file, part, offset, env.over(override), asBase)
		if i == 0 {
			current.refusals = slices.Concat(out.refusals, current.refusals)
			out = current
		} else {
			out.merge(current, false)
			out.env, out.values = current.env, current.values
		}
		next := out.env
		env = &next
		offset += strings.Count(part, "\n") + 2
	}
	return out, nil
}

// part reads one part with its bases, and the values of the environment.
func (r *reader) part(before *helmfile, file, source string, offset int, env *environment, asBase bool) *helmfile {
	own := newHelmfile(file, before.dir)
	for _, n := range r.documents(own, source, offset, env) {
		if n.Kind == yaml.MappingNode {
			own.checkFields("helmfile", n)
			next := newHelmfile(file, before.dir)
			next.decode(n)
			own.merge(next, true)
		}
	}
	if !asBase {
		own = r.withBases(own, env)
	} else if len(own.bases) > 0 {
		own.refuse(own.bases[0].Place, "a base must not have bases")
	}
	r.loadEnvironment(own, env)
	for _, c := range own.calls {
		r.checkCall(own, c)
	}
	return own
}

// withBases merges a part over its bases. A base reads files relative to the folder of the helmfile that
// names it as a base.
func (r *reader) withBases(own *helmfile, env *environment) *helmfile {
	if len(own.bases) == 0 {
		return own
	}
	out := newHelmfile(own.file, own.dir)
	for _, base := range own.bases {
		p, local := repository.Join(own.dir, base.Value)
		if r.budget--; r.budget < 0 {
			own.refuseIf(false, base.Place, r.tooMany().Error())
			continue
		}
		if !local {
			own.refuseIf(false, base.Place, "the base "+base.Value+" is not in the repository")
			continue
		}
		layer, err := r.load(p, own.dir, env, nil, true)
		if err != nil {
			own.refuse(base.Place, fmt.Sprintf("the base %s does not exist", p))
			continue
		}
		out.merge(layer, true)
	}
	out.merge(own, true)
	return out
}

// merge sets the fields that another document sets. Lists are appended within a part and its bases, and replaced
// between parts.
func (h *helmfile) merge(from *helmfile, appending bool) {
	h.releases = mergeList(h.releases, from.releases, appending)
	h.repositories = mergeList(h.repositories, from.repositories, appending)
	h.defaultInherit = mergeList(h.defaultInherit, from.defaultInherit, appending)
	h.defaults = mergeList(h.defaults, from.defaults, appending)
	h.bases = mergeList(h.bases, from.bases, appending)
	h.hooks = mergeList(h.hooks, from.hooks, appending)
	h.calls = mergeList(h.calls, from.calls, appending)
	maps.Copy(h.templates, from.templates)
	maps.Copy(h.commonLabels, from.commonLabels)
	if appending {
		mergeEnvironments(h.environments, from.environments)
	} else {
		maps.Copy(h.environments, from.environments)
	}
	for k, list := range from.helmDefaults {
		h.helmDefaults[k] = mergeList(h.helmDefaults[k], list, appending)
	}
	if from.namespace.Value != "" {
		h.namespace = from.namespace
	}
	if from.missingFiles.Value != "" {
		h.missingFiles = from.missingFiles
	}
	if h.broken == nil {
		h.broken = from.broken
	}
	h.guessed = h.guessed || from.guessed
	h.refusals = append(h.refusals, from.refusals...)
}

func mergeList[T any](a, b []T, appending bool) []T {
	switch {
	case len(b) == 0:
		return a
	case appending:
		return slices.Concat(a, b)
	}
	return b
}

// recordBroken records that a part, which begins at the line offset, is not YAML.
func (h *helmfile) recordBroken(err error, offset int) {
	broken := (*located.SyntaxError)(nil)
	if !errors.As(err, &broken) {
		return
	}
	line := offset + max(broken.Line, 1)
	h.refuse(located.At(h.file, line), "the file "+broken.Message)
	if h.broken == nil {
		h.broken = &brokenPart{line: line, reason: "the file " + broken.Message}
	}
}

// recordUnevaluated records why a part is not evaluated.
func (h *helmfile) recordUnevaluated(err error, offset int) {
	if h.broken == nil {
		h.broken = &brokenPart{line: offset + templates.LineOf(err), reason: "the file was not evaluated: " + templates.Reason(err)}
	}
}

// documents reads a part. It is a template in a *.gotmpl file, and also in a file that is not YAML unless it is
// rendered (helmfile before v1 rendered all files).
func (r *reader) documents(h *helmfile, part string, offset int, env *environment) []*yaml.Node {
	file := h.file
	var unrendered error // the file may be valid only for older versions of helmfile, which render it
	if !strings.HasSuffix(file, ".gotmpl") {
		nodes, err := located.Parse(file, part)
		if err == nil || !strings.Contains(part, "{{") {
			h.recordBroken(err, offset)
			located.ShiftLines(nodes, func(line int) int { return line + offset })
			if line := unquoted(nodes); line > 0 {
				h.refuse(located.At(file, line), "a template without quotes is not a string: quote it, or let the name of the file end in .gotmpl")
			}
			return nodes
		}
		unrendered = err
	}
	data := env.stateData()
	rendered, failed := r.Render(h.dir, part, data)
	if unrendered != nil {
		h.guessed = h.guessed || strings.Contains(part, "{%") || !r.failsToo(h, env, rendered, failed)
		h.recordBroken(unrendered, offset)
		h.guessed, h.broken = true, nil
	}
	if failed != nil {
		if env.lacks(failed) {
			failed = &templates.UnknownError{Mark: env.unknown[0]}
		}
		if !templates.IsUndecided(failed) {
			h.refuseIf(r.Certain && !env.open(), located.At(file, offset+templates.LineOf(failed)), templates.Reason(failed))
		}
		h.guessed = true
		if errors.Is(failed, templates.ErrUndecided) {
			h.recordUnevaluated(failed, offset)
			return nil
		}
		rendered = r.Salvage(h.dir, part, data, failed)
	}
	original := originalLines(part, rendered, offset)
	nodes, err := located.Parse(file, rendered)
	if err != nil {
		h.guessed = h.guessed || strings.Contains(rendered, templates.MarkOpen)
		if failed == nil {
			h.recordBroken(err, offset)
		} else if templates.IsUndecided(failed) {
			h.recordUnevaluated(failed, offset)
		}
		nodes, _ = located.Parse(file, r.Salvage(h.dir, part, data, err))
		original = originalLines(part, part, offset)
	}
	located.ShiftLines(nodes, original)
	return nodes
}

// failsToo reports whether helmfile certainly cannot read a file that is not YAML as a template either: the template fails, or its
// output is not YAML. A function that helmfile does not have may be from a newer version, or the template from another program.
func (r *reader) failsToo(h *helmfile, env *environment, rendered string, failed error) bool {
	switch {
	case !r.Certain, env.open(), env.lacks(failed), templates.IsUndecided(failed):
		return false
	case failed != nil:
		return !strings.Contains(failed.Error(), "not defined")
	}
	_, err := located.Parse(h.file, rendered)
	return err != nil
}

// originalLines maps the lines of a rendered part to the lines of the file that they came from.
func originalLines(part, rendered string, offset int) func(int) int {
	lines := templates.AlignLines(part, rendered)
	return func(line int) int {
		if line < 1 || line > len(lines) {
			return offset + 1
		}
		return lines[line-1] + offset
	}
}
