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

// load reads the parts of a file one after the other: like helmfile, a part is
// what stands between lines of three dashes, and sees the values of the parts
// before it. The lists of a later part replace those of an earlier one. What cannot be read is left out.
func (r *reader) load(file, dir string, env, override *environment, asBase bool) (*helmfile, error) {
	data, err := r.repo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	// What the file itself reads is no release's.
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

// withBases merges a part over the files that it builds upon. A base reads files
// relative to the folder of the helmfile that builds upon it.
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

// merge sets what another document sets. Lists are appended where documents of
// one part or bases merge, and replaced where parts do.
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

// breaks notes a part that is not YAML, which begins at the line offset.
func (h *helmfile) breaks(err error, offset int) {
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

// leavesOpen notes why a part is not evaluated.
func (h *helmfile) leavesOpen(err error, offset int) {
	if h.broken == nil {
		h.broken = &brokenPart{line: offset + templates.LineOf(err), reason: "the file was not evaluated: " + templates.Reason(err)}
	}
}

// documents reads a part, which is a template in a *.gotmpl file, and in a file
// that is no YAML without being rendered (helmfile before v1 rendered all).
func (r *reader) documents(h *helmfile, part string, offset int, env *environment) []*yaml.Node {
	file := h.file
	if !strings.HasSuffix(file, ".gotmpl") {
		nodes, err := located.Parse(file, part)
		if err == nil || !strings.Contains(part, "{{") {
			h.breaks(err, offset)
			located.ShiftLines(nodes, func(line int) int { return line + offset })
			if line := unquoted(nodes); line > 0 {
				h.refuse(located.At(file, line), "a template without quotes is not a string: quote it, or let the name of the file end in .gotmpl")
			}
			return nodes
		}
		h.guessed = true
		h.breaks(err, offset)
		h.broken = nil // older versions of helmfile render it
	}
	data := env.stateData()
	rendered, failed := r.Render(h.dir, part, data)
	if failed != nil {
		if env.lacks(failed) {
			failed = &templates.UnknownError{Mark: env.unknown[0]}
		}
		if !templates.IsUndecided(failed) {
			h.refuseIf(r.Certain && !env.open(), located.At(file, offset+templates.LineOf(failed)), templates.Reason(failed))
		}
		h.guessed = true
		if errors.Is(failed, templates.ErrUndecided) {
			h.leavesOpen(failed, offset)
			return nil
		}
		rendered = r.Salvage(h.dir, part, data, failed)
	}
	original := originalLines(part, rendered, offset)
	nodes, err := located.Parse(file, rendered)
	if err != nil {
		h.guessed = h.guessed || strings.Contains(rendered, templates.MarkOpen)
		if failed == nil {
			h.breaks(err, offset)
		} else if templates.IsUndecided(failed) {
			h.leavesOpen(failed, offset)
		}
		nodes, _ = located.Parse(file, r.Salvage(h.dir, part, data, err))
		original = originalLines(part, part, offset)
	}
	located.ShiftLines(nodes, original)
	return nodes
}

// originalLines tells which line of the file each line of a rendered part came
// from.
func originalLines(part, rendered string, offset int) func(int) int {
	lines := templates.AlignLines(part, rendered)
	return func(line int) int {
		if line < 1 || line > len(lines) {
			return offset + 1
		}
		return lines[line-1] + offset
	}
}
