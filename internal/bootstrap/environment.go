package bootstrap

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"dario.cat/mergo"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// environment are the values of helmfile's environment "default", the one that a
// bootstrap uses when nothing else is said (pkg/environment, v1.8.0): values are
// the environment's, defaults those that all environments share.
type environment struct {
	values, defaults map[string]any
	// unknown says which values could not be read.
	unknown []mark
}

func newEnvironment() environment {
	return environment{values: map[string]any{}, defaults: map[string]any{}}
}

// open says whether templates may see values that are not known.
func (e *environment) open() bool {
	return e != nil && (len(e.unknown) > 0 || holdsMark(e.values) || holdsMark(e.defaults))
}

// holdsMark says whether some text in a value has a mark.
func holdsMark(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, markOpen)
	case map[string]any:
		for key, item := range v {
			if strings.Contains(key, markOpen) || holdsMark(item) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, holdsMark)
	}
	return false
}

// merge lays another environment over this one, as helmfile merges parts.
func (e *environment) merge(from environment) {
	e.values, e.defaults = copied(e.values), copied(e.defaults)
	_ = mergo.Merge(&e.values, copied(from.values), mergo.WithOverride)
	_ = mergo.Merge(&e.defaults, copied(from.defaults), mergo.WithOverride)
	e.unknown = append(e.unknown, from.unknown...)
}

// over returns the environment that a caller gives laid over one: nil and nil
// give nil.
func (e *environment) over(override *environment) *environment {
	switch {
	case e == nil && override == nil:
		return nil
	case e == nil:
		return override
	case override == nil:
		return e
	}
	return &environment{values: mergedMaps(e.values, override.values), defaults: mergedMaps(e.defaults, override.defaults),
		unknown: append(e.unknown[:len(e.unknown):len(e.unknown)], override.unknown...)}
}

// merged are the values that templates see: fresh maps each time, since a
// template may change them.
func (e *environment) merged() map[string]any {
	return mergedMaps(mergedMaps(map[string]any{}, e.defaults), e.values)
}

// environmentData is .Environment in a template.
type environmentData struct {
	Name         string
	KubeContext  string
	Values       map[string]any
	Defaults     map[string]any
	CLIOverrides map[string]any
}

// stateData is what the template of a helmfile sees.
type stateData struct {
	Environment environmentData
	Namespace   string
	Values      map[string]any
	StateValues *map[string]any
}

const environmentName = "default"

func (e *environment) data() environmentData {
	return environmentData{Name: environmentName, Values: copied(e.values), Defaults: copied(e.defaults),
		CLIOverrides: map[string]any{}}
}

func (e *environment) stateData() stateData {
	if e == nil {
		empty := newEnvironment()
		e = &empty
	}
	d := stateData{Environment: e.data(), Values: e.merged()}
	d.StateValues = &d.Values
	return d
}

// environmentSpec is an item of environments.
type environmentSpec struct {
	place
	values        []entry
	secrets       []text
	missingFiles  text
	mergeStrategy text
}

func newEnvironmentSpec(file string, n *yaml.Node) environmentSpec {
	if n == nil {
		return environmentSpec{place: place{file: file}}
	}
	s := environmentSpec{place: place{file, n.Line}, values: entries(file, n, "values"),
		missingFiles: scalarText(file, n, "missingFileHandler"), mergeStrategy: scalarText(file, n, "mergeStrategy")}
	for _, secret := range items(n, "secrets") {
		s.secrets = append(s.secrets, text{place{file, secret.Line}, secret.Value, nil})
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
		if from.missingFiles.value != "" {
			both.missingFiles = from.missingFiles
		}
		if from.mergeStrategy.value != "" {
			both.mergeStrategy = from.mergeStrategy
		}
		if both.mergeStrategy.value == fallback {
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
	spec := h.environments[environmentName]
	env := newEnvironment()
	for _, s := range spec.secrets {
		env.unknown = append(env.unknown, mark{reason: "values come from the encrypted file " + s.value})
	}
	if s := spec.mergeStrategy; s.value != "" && s.value != fallback && s.value != "override" {
		h.refuse(s.place, fmt.Sprintf("environment %q: invalid mergeStrategy %q (must be %q or %q)", environmentName,
			s.value, "override", fallback))
	}
	env.values = r.environmentValues(h, &env, spec.values, before, spec.missingFiles.value, spec.mergeStrategy.value)
	if before != nil {
		env.defaults = copied(before.defaults)
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
				env.unknown = append(env.unknown, mark{reason: shortened(err.Error())})
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
	if err := textKeys(item.node, false, 0); err != nil {
		h.refuse(item.place, err.Error())
	}
	return decodeNode(item.node)
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
func (r *reader) resolve(h *helmfile, item entry, handler string) ([]string, *mark) {
	name := item.node.Value
	if m, bad := r.marked(name); bad {
		return nil, &m
	}
	p, local := repository.Join(h.dir, name)
	if !local || strings.Contains(name, "://") {
		return nil, &mark{reason: fmt.Sprintf("values come from %q, which is not in the repository", name)}
	}
	found := r.matching(p)
	if len(found) == 0 && (handler == "" || handler == "Error") {
		h.refuse(item.place, fmt.Sprintf("environment values file matching %q does not exist", name))
		return nil, &mark{reason: fmt.Sprintf("the file %s doesn't exist", p), missing: p}
	}
	return found, nil
}

// matching are the files that a path or a pattern names, sorted.
func (e *engine) matching(pattern string) []string {
	if e.files.Exists(pattern) {
		return []string{pattern}
	}
	if !strings.ContainsAny(pattern, `*?[\`) {
		return nil
	}
	var found []string
	for _, p := range e.paths() {
		if ok, err := path.Match(pattern, p); ok && err == nil {
			found = append(found, p)
		}
	}
	return found
}

func (r *reader) valuesFile(h *helmfile, p string, data stateData) (map[string]any, *mark) {
	if strings.HasSuffix(p, ".hcl") {
		return nil, &mark{reason: fmt.Sprintf("values come from %s, which is HCL", p)}
	}
	content, bad := r.read(p)
	if bad.reason != "" {
		return nil, &bad
	}
	source := string(content)
	if strings.HasSuffix(p, ".gotmpl") {
		var err error
		if source, err = r.render(path.Dir(p), source, data); err != nil {
			reason := templateReason(err)
			h.refuseIf(r.certain && !isUndecided(err) && !holdsMark(data.Values), place{p, lineOfTemplateError(err)}, fmt.Sprintf("failed to render [%s], because of %s", h.relative(p), reason))
			return nil, &mark{reason: fmt.Sprintf("the template %s fails: %s", p, reason)}
		}
	}
	m, err := decodeMap(source)
	if err != nil {
		h.refuseIf(!strings.Contains(source, markOpen), place{p, 1}, shortened(err.Error()))
		return nil, &mark{reason: fmt.Sprintf("the file %s is no YAML: %s", p, shortened(err.Error()))}
	}
	return m, nil
}

// mergedMaps lays over upon base as helmfile merges values of environments: a
// null doesn't replace what is there, and a list with a null in it merges by
// position (pkg/maputil.MergeMaps). Neither is changed.
func mergedMaps(base, over map[string]any) map[string]any {
	out := copied(base)
	for k, v := range over {
		before, has := out[k]
		switch v := v.(type) {
		case nil:
			if !has {
				out[k] = nil
			}
			continue
		case map[string]any:
			if m, both := before.(map[string]any); both {
				out[k] = mergedMaps(m, v)
				continue
			}
			out[k] = copied(v)
			continue
		case []any:
			if list, both := before.([]any); both {
				out[k] = mergedLists(list, v)
				continue
			}
		}
		out[k] = copyValue(v)
	}
	return out
}

func mergedLists(base, over []any) []any {
	sparse := false
	for _, v := range over {
		sparse = sparse || v == nil
	}
	if !sparse {
		return copyValue(over).([]any)
	}
	out := make([]any, max(len(base), len(over)))
	copy(out, base)
	for i, v := range over {
		m, isMap := v.(map[string]any)
		before, both := out[i].(map[string]any)
		switch {
		case v == nil:
		case isMap && both:
			out[i] = mergedMaps(before, m)
		default:
			out[i] = copyValue(v)
		}
	}
	return out
}

func copied(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = copyValue(v)
	}
	return out
}

func copyValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return copied(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = copyValue(item)
		}
		return out
	}
	return v
}
