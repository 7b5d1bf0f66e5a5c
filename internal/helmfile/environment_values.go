package helmfile

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"dario.cat/mergo"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// loadEnvironment computes the environment of a part from that of the parts before it, or from the caller's.
func (r *reader) loadEnvironment(h *helmfile, before *environment) {
	spec, isDefined := h.environments[environmentName]
	env := newEnvironment()
	if before != nil {
		env.name = before.name
	}
	if !isDefined && len(h.environments) > 0 && (before == nil || len(before.values) == 0) {
		m := located.Unknown{Reason: "it depends on helmfile's environment, of which the file defines " +
			strings.Join(slices.Sorted(maps.Keys(h.environments)), ", ") + ", and no default"}
		env.name = r.Mark(m)
		env.unknown = append(env.unknown, m)
	}
	env.unknown = append(env.unknown, spec.unread...)
	env.values = r.environmentValues(h, &env, spec.values, before, spec.missingFiles)
	defaults := r.environmentValues(h, &env, h.defaults, before, "")
	if before != nil {
		env.defaults = templates.Copied(before.defaults)
		env.values = mergedMaps(before.values, env.values)
		env.unknown = append(env.unknown, before.unknown...)
	}
	_ = mergo.Merge(&env.defaults, defaults, mergo.WithOverride)
	h.env, h.values = env, env.merged()
}

// environmentValues merges entries of values: maps and files; *.gotmpl files are rendered. An entry that cannot be read leaves
// its keys undefined, and a template that uses them fails with the reason.
func (r *reader) environmentValues(h *helmfile, env *environment, list []entry, before *environment, missing string) map[string]any {
	out := map[string]any{}
	// As helmfile merges: maps merge, anything else replaces.
	lay := func(from map[string]any, bad *located.Unknown) {
		if bad != nil {
			env.unknown = append(env.unknown, *bad)
		}
		_ = mergo.Merge(&out, from, mergo.WithOverride)
	}
	for _, item := range list {
		if item.node.Kind == yaml.MappingNode {
			m, err := templates.DecodeNode(item.node)
			if err != nil {
				lay(nil, &located.Unknown{Reason: located.Shorten(err.Error())})
			}
			lay(m, nil)
			continue
		}
		files, bad := r.resolve(h, item, missing)
		if bad != nil {
			lay(nil, bad)
		}
		for _, p := range files {
			lay(r.valuesFile(h, p, before.stateData()))
		}
	}
	return out
}

// resolve finds the files that an entry of values names.
func (r *reader) resolve(h *helmfile, item entry, handler string) ([]string, *located.Unknown) {
	name := item.node.Value
	if m, bad := r.Marked(name); bad {
		return nil, &m
	}
	p, local := repository.Join(h.dir, name)
	if !local || strings.Contains(name, "://") {
		return nil, &located.Unknown{Reason: fmt.Sprintf("values come from %q, which is not in the repository", name)}
	}
	found := r.Matching(p)
	if len(found) == 0 && (handler == "" || handler == "Error") {
		if why := r.present(p, nil); why != "" {
			bad := valuesFrom(p, why)
			return nil, &bad
		}
		h.refuse(item.Place, fmt.Sprintf("the values file %s of the environment does not exist", p))
		return nil, &located.Unknown{Reason: fmt.Sprintf("the file %s does not exist", p), Missing: p}
	}
	return found, nil
}

func (r *reader) valuesFile(h *helmfile, p string, data templates.StateData) (map[string]any, *located.Unknown) {
	content, bad := r.Read(p)
	if bad.Reason != "" {
		return nil, &bad
	}
	source := string(content)
	if strings.HasSuffix(p, ".gotmpl") {
		var err error
		if source, err = r.Render(path.Dir(p), source, data); err != nil {
			reason := fmt.Sprintf("the template %s fails: %s", p, templates.Reason(err))
			h.refuseIf(r.Certain && !templates.IsUndecided(err) && !templates.HoldsMark(data.Values), located.At(p, templates.LineOf(err)), reason)
			return nil, &located.Unknown{Reason: reason}
		}
	}
	m, err := templates.DecodeMap(source)
	if err != nil {
		reason := fmt.Sprintf("the file %s is not YAML: %s", p, located.Shorten(err.Error()))
		h.refuseIf(!strings.Contains(source, templates.MarkOpen) && !strings.HasSuffix(p, ".hcl"), located.At(p, 1), reason)
		return nil, &located.Unknown{Reason: reason}
	}
	return m, nil
}
