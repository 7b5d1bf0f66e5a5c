package helmfile

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"dario.cat/mergo"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/templates"
)

func newEnvironmentSpec(file string, n *yaml.Node) environmentSpec {
	if n == nil {
		return environmentSpec{Place: located.Place{File: file}}
	}
	s := environmentSpec{Place: located.At(file, n.Line), values: entries(file, n, "values"),
		missingFiles: located.ScalarText(file, n, "missingFileHandler"), mergeStrategy: located.ScalarText(file, n, "mergeStrategy")}
	for _, secret := range located.Items(n, "secrets") {
		s.secrets = append(s.secrets, located.Text{Place: located.At(file, secret.Line), Value: secret.Value})
	}
	return s
}

// mergeEnvironments lays the environments of a later file over those of a base:
// their lists append, so that the later file's values win.
func mergeEnvironments(base, over map[string]environmentSpec) {
	for name, from := range over {
		both, has := base[name]
		if !has {
			base[name] = from
			continue
		}
		both.secrets = mergeList(both.secrets, from.secrets, true)
		if from.missingFiles.Value != "" {
			both.missingFiles = from.missingFiles
		}
		if from.mergeStrategy.Value != "" {
			both.mergeStrategy = from.mergeStrategy
		}
		if both.mergeStrategy.Value == fallback {
			both.values = mergeList(from.values, both.values, true)
		} else {
			both.values = mergeList(both.values, from.values, true)
		}
		base[name] = both
	}
}

// fallback is the mergeStrategy by which the first file that sets a value wins.
const fallback = "fallback"

// loadEnvironment computes the environment of a part from that of the parts
// before it, or from the caller's.
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
	for _, s := range spec.secrets {
		env.unknown = append(env.unknown, located.Unknown{Reason: "values come from the encrypted file " + s.Value})
	}
	if s := spec.mergeStrategy; s.Value != "" && s.Value != fallback && s.Value != "override" {
		h.refuse(s.Place, fmt.Sprintf("environment %q: invalid mergeStrategy %q (must be %q or %q)", environmentName,
			s.Value, "override", fallback))
	}
	env.values = r.environmentValues(h, &env, spec.values, before, spec.missingFiles.Value, spec.mergeStrategy.Value)
	if before != nil {
		env.defaults = templates.Copied(before.defaults)
		env.values = mergedMaps(before.values, env.values)
		env.unknown = append(env.unknown, before.unknown...)
	}
	defaults := r.environmentValues(h, &env, h.defaults, before, "", "")
	_ = mergo.Merge(&env.defaults, defaults, mergo.WithOverride)
	h.env, h.values = env, env.merged()
}

// environmentValues merges values of the state: maps and files, *.gotmpl ones
// rendered. One that cannot be read leaves its keys undefined, and a template
// that uses them says why.
func (r *reader) environmentValues(h *helmfile, env *environment, list []entry, before *environment, missing, strategy string) map[string]any {
	out := map[string]any{}
	lay := func(from map[string]any) {
		if strategy == fallback {
			out = mergedMaps(from, out)
			return
		}
		// The same merge as helmfile's: maps merge, anything else replaces.
		_ = mergo.Merge(&out, from, mergo.WithOverride)
	}
	for _, item := range list {
		if item.node.Kind == yaml.MappingNode {
			m, err := h.literal(item)
			if err != nil {
				env.unknown = append(env.unknown, located.Unknown{Reason: located.Shorten(err.Error())})
				continue
			}
			lay(m)
			continue
		}
		files, bad := r.resolve(h, item, missing)
		if bad != nil {
			env.unknown = append(env.unknown, *bad)
			continue
		}
		for _, p := range files {
			data := before.stateData()
			if strategy == fallback && len(out) > 0 {
				// helmfile lays the values before over what the template sees, and so,
				// as maps within are shared, over what the files before it set.
				seen := map[string]any{}
				_ = mergo.Merge(&seen, out)
				_ = mergo.Merge(&seen, data.Values, mergo.WithOverride)
				data.Values = seen
				data.StateValues = &data.Values
			}
			from, bad := r.valuesFile(h, p, data)
			if bad != nil {
				env.unknown = append(env.unknown, *bad)
				continue
			}
			lay(from)
		}
	}
	return out
}

// literal are the values that stand in the helmfile itself.
func (h *helmfile) literal(item entry) (map[string]any, error) {
	if err := templates.TextKeys(item.node, false, 0); err != nil {
		h.refuse(item.Place, err.Error())
	}
	return templates.DecodeNode(item.node)
}

// relative is a path as helmfile names it, from the helmfile's folder.
func (h *helmfile) relative(p string) string {
	rel, err := filepath.Rel(h.dir, p)
	if err != nil {
		return p
	}
	return filepath.ToSlash(rel)
}

// resolve finds the files that an entry of values of the state names.
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
		h.refuse(item.Place, fmt.Sprintf("environment values file matching %q does not exist", name))
		return nil, &located.Unknown{Reason: fmt.Sprintf("the file %s does not exist", p), Missing: p}
	}
	return found, nil
}

func (r *reader) valuesFile(h *helmfile, p string, data templates.StateData) (map[string]any, *located.Unknown) {
	if strings.HasSuffix(p, ".hcl") {
		return nil, &located.Unknown{Reason: fmt.Sprintf("values come from %s, which is HCL", p)}
	}
	content, bad := r.Read(p)
	if bad.Reason != "" {
		return nil, &bad
	}
	source := string(content)
	if strings.HasSuffix(p, ".gotmpl") {
		var err error
		if source, err = r.Render(path.Dir(p), source, data); err != nil {
			reason := templates.Reason(err)
			h.refuseIf(r.Certain && !templates.IsUndecided(err) && !templates.HoldsMark(data.Values), located.At(p, templates.LineOf(err)), fmt.Sprintf("failed to render [%s], because of %s", h.relative(p), reason))
			return nil, &located.Unknown{Reason: fmt.Sprintf("the template %s fails: %s", p, reason)}
		}
	}
	m, err := templates.DecodeMap(source)
	if err != nil {
		h.refuseIf(!strings.Contains(source, templates.MarkOpen), located.At(p, 1), located.Shorten(err.Error()))
		return nil, &located.Unknown{Reason: fmt.Sprintf("the file %s is not YAML: %s", p, located.Shorten(err.Error()))}
	}
	return m, nil
}
