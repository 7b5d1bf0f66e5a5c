package bootstrap

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"dario.cat/mergo"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// helmfile is a helmfile with its parts and bases merged, its releases not yet
// evaluated. The fields, and how they merge, are those of helmfile's own state
// (pkg/state, v1.8.0).
type helmfile struct {
	file, dir      string
	releases       []*rawRelease
	templates      map[string]*rawRelease
	repositories   []chartRepository
	defaultInherit []text
	commonLabels   map[string]text
	helmDefaults   map[string][]string // args, templateArgs, postRendererArgs
	namespace      text                // overrides that of all releases
	missingFiles   text                // missingFileHandler
	defaults       []entry             // values
	environments   map[string]environmentSpec
	bases          []text
	calls          []call // helmfiles

	env environment
	// values are .Values in the templates of releases.
	values map[string]any

	broken *brokenPart // the first part that can't be read
	// readFor are the files that the part's template read for a release.
	readFor map[*yaml.Node]map[string]bool
	// refusals say why helmfile itself stops at the file, and where, in the order
	// in which it comes to them: phase is the one under way.
	refusals []refusal
	phase    phase
	noted    [installing + 1]int // by phase
	// guessed says that a template of the file was not evaluated as a whole: then nothing about
	// the file is certain.
	guessed bool
	// inheritances is how many templates the releases may inherit from yet.
	inheritances int
}

type chartRepository struct {
	name text
	url  text
	oci  bool
}

// text is a scalar of a helmfile and where it stands.
type text struct {
	place
	value string
	// unknown says why the value could not be computed.
	unknown *mark
}

// entry is an item of values: a map, or the path of a file.
type entry struct {
	place
	node *yaml.Node
}

// call is an item of helmfiles: another helmfile that this one runs.
type call struct {
	path      text
	selectors []string
	inherits  []string
	values    []entry
}

func newHelmfile(file, dir string) *helmfile {
	return &helmfile{file: file, dir: dir, templates: map[string]*rawRelease{}, commonLabels: map[string]text{},
		helmDefaults: map[string][]string{}, environments: map[string]environmentSpec{}, env: newEnvironment(),
		inheritances: maxInheritances, readFor: map[*yaml.Node]map[string]bool{}}
}

// reader reads the helmfiles of a repository.
type reader struct {
	*engine
	repo *repository.Repository
	// budget bounds the files that one helmfile builds upon or calls.
	budget int
}

const maxFilesOfHelmfile = 200

// tooMany notes that a helmfile builds upon or calls more files than are read, and returns that as an error.
func (r *reader) tooMany() error {
	why := fmt.Sprintf("it builds upon, or calls, other helmfiles more than %d times", maxFilesOfHelmfile)
	bounds.Refuse(r.unit, why)
	return errors.New(why)
}

// helmfile reads a helmfile with its bases, as a root or called by another with
// the environment that the caller gives. What cannot be read of it is left out;
// the reasons are in problems of the releases that it concerns.
func (r *reader) helmfile(file string, inherited, override *environment) (*helmfile, error) {
	return r.load(file, path.Dir(file), inherited, override, false)
}

// load reads the parts of a file one after the other: like helmfile, a part is
// what stands between lines of three dashes, and sees the values of the parts
// before it. The lists of a later part replace those of an earlier one.
func (r *reader) load(file, dir string, env, override *environment, asBase bool) (*helmfile, error) {
	data, err := r.repo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	// What the file itself reads is no release's.
	r.reads = map[string]bool{}
	whole := strings.ReplaceAll(string(data), "\r\n", "\n")
	out := newHelmfile(file, dir)
	if reason, line := againstPolicy(whole); reason != "" {
		out.refuse(place{file, line}, reason)
	}
	offset := 0
	for i, part := range strings.Split(whole, "\n---\n") {
		current := r.part(out, file, part, offset, env.over(override), asBase)
		if i == 0 {
			current.refusals = slices.Concat(out.refusals, current.refusals)
			out = current
		} else {
			out.merge(current, false)
			out.env.merge(current.env)
			out.values = current.values
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
			next := newHelmfile(file, before.dir)
			next.readFor = own.readFor
			next.decode(n)
			own.merge(next, true)
		}
	}
	if !asBase {
		own = r.withBases(own, env)
	} else if len(own.bases) > 0 {
		own.refuse(own.bases[0].place, "nested `base` helmfile is unsupported. please submit a feature request if you need this!")
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
	var layers []*helmfile
	for _, base := range own.bases {
		p, local := repository.Join(own.dir, base.value)
		if r.budget--; r.budget < 0 {
			own.refuseIf(false, base.place, r.tooMany().Error())
			continue
		}
		if !local {
			own.refuseIf(false, base.place, "the base "+base.value+" is not in the repository")
			continue
		}
		layer, err := r.load(p, own.dir, env, nil, true)
		if err != nil {
			own.refuse(base.place, "open "+own.relative(p)+": no such file or directory")
			continue
		}
		layers = append(layers, layer)
	}
	if len(layers) == 0 {
		return own
	}
	out := layers[0]
	refusals := own.refusals
	for _, layer := range layers {
		refusals = append(refusals, layer.refusals...)
		layer.refusals = nil
	}
	out.refusals, own.refusals = refusals, nil
	for _, layer := range layers[1:] {
		mergeEnvironments(out.environments, layer.environments)
		layer.environments = nil
		out.mergeLayer(layer)
	}
	mergeEnvironments(out.environments, own.environments)
	own.environments = nil
	out.merge(own, true)
	out.file, out.env, out.values = own.file, newEnvironment(), nil
	return out
}

// mergeLayer merges a base over another. helmfile merges their values too, to no
// effect but that it stops where a list meets a text.
func (h *helmfile) mergeLayer(layer *helmfile) {
	for _, both := range [][2]map[string]any{{h.env.values, layer.env.values}, {h.env.defaults, layer.env.defaults}, {h.values, layer.values}} {
		into := copied(both[0])
		if err := mergo.Merge(&into, copied(both[1]), mergo.WithAppendSlice, mergo.WithOverride); err != nil {
			h.refuseIf(!h.env.open() && !layer.env.open(), place{layer.file, 1}, err.Error())
		}
	}
	h.merge(layer, true)
}

// merge sets what another document sets. Lists are appended where documents of
// one part or bases merge, and replaced where parts do.
func (h *helmfile) merge(from *helmfile, appending bool) {
	h.releases = mergeList(h.releases, from.releases, appending)
	h.repositories = mergeList(h.repositories, from.repositories, appending)
	h.defaultInherit = mergeList(h.defaultInherit, from.defaultInherit, appending)
	h.defaults = mergeList(h.defaults, from.defaults, appending)
	h.bases = mergeList(h.bases, from.bases, appending)
	h.calls = mergeList(h.calls, from.calls, appending)
	maps.Copy(h.templates, from.templates)
	maps.Copy(h.commonLabels, from.commonLabels)
	maps.Copy(h.environments, from.environments)
	for k, list := range from.helmDefaults {
		h.helmDefaults[k] = mergeList(h.helmDefaults[k], list, appending)
	}
	if from.namespace.value != "" {
		h.namespace = from.namespace
	}
	if from.missingFiles.value != "" {
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

// brokenPart is where a helmfile is neither YAML nor a template of it.
type brokenPart struct {
	line   int
	reason string
}

// breaks notes the first part that can't be read, which begins at the line offset.
func (h *helmfile) breaks(err error, offset int) {
	if broken := (*syntaxError)(nil); errors.As(err, &broken) && h.broken == nil {
		h.broken = &brokenPart{line: offset + max(broken.line, 1), reason: "the file " + broken.message}
	}
}

// leavesOpen notes why a part is not evaluated; one whose template certainly fails is refused.
func (h *helmfile) leavesOpen(err error, offset int) {
	if h.broken == nil {
		reason := templateReason(err)
		reason = reason[max(strings.Index(reason, errUndecided.Error()), 0):]
		h.broken = &brokenPart{line: offset + lineOfTemplateError(err), reason: "the file is not evaluated: " + reason}
	}
}

// documents reads a part, which is a template in a *.gotmpl file, and in a file
// that is no YAML without being rendered (helmfile before v1 rendered all).
func (r *reader) documents(h *helmfile, part string, offset int, env *environment) []*yaml.Node {
	file := h.file
	data := env.stateData()
	if !strings.HasSuffix(file, ".gotmpl") {
		nodes, err := parseText(file, part)
		if err == nil || !strings.Contains(part, "{{") {
			h.breaks(err, offset)
			r.checkFields(h, part, offset, func(line int) int { return line + offset })
			shiftLines(nodes, func(line int) int { return line + offset })
			return nodes
		}
		h.guessed = true
		r.checkFields(h, part, offset, func(line int) int { return line + offset })
	}
	var reads []readAt
	rendered, failed := r.render(h.dir, part, data)
	if failed != nil {
		if !isUndecided(failed) {
			h.refuseIf(r.certain && !env.open(), place{file, offset + lineOfTemplateError(failed)}, templateReason(failed))
		}
		h.guessed = true
		rendered = r.salvage(h.dir, part, data, failed)
	} else {
		reads = r.rendering.log
	}
	original := originalLines(part, rendered, offset)
	r.checkFields(h, rendered, offset, original)
	nodes, err := parseText(file, rendered)
	if err != nil {
		h.guessed = h.guessed || strings.Contains(rendered, markOpen)
		if failed == nil {
			h.breaks(err, offset)
		} else if isUndecided(failed) {
			h.leavesOpen(failed, offset)
		}
		nodes, _ = parseText(file, r.salvage(h.dir, part, data, err))
		original = originalLines(part, part, offset)
	}
	h.attribute(reads, rendered, nodes)
	shiftLines(nodes, original)
	return nodes
}

// attribute notes which release of a rendered part the template read which file
// for: what it reads before it has written the first one is for all or none.
func (h *helmfile) attribute(reads []readAt, rendered string, nodes []*yaml.Node) {
	for _, n := range nodes {
		releases := repository.Lookup(n, "releases")
		if releases == nil || releases.Kind != yaml.SequenceNode {
			continue
		}
		for _, each := range reads {
			line := 1 + strings.Count(rendered[:min(each.after, len(rendered))], "\n")
			for i := len(releases.Content) - 1; i >= 0; i-- {
				if release := releases.Content[i]; release.Line <= line {
					if h.readFor[release] == nil {
						h.readFor[release] = map[string]bool{}
					}
					h.readFor[release][each.path] = true
					break
				}
			}
		}
	}
}

// originalLines tells which line of the file each line of a rendered part came
// from.
func originalLines(part, rendered string, offset int) func(int) int {
	lines := alignLines(part, rendered)
	return func(line int) int {
		if line < 1 || line > len(lines) {
			return offset + 1
		}
		return lines[line-1] + offset
	}
}

// syntaxError is a text that is no YAML, or beyond the repository's limits.
type syntaxError struct {
	file    string
	line    int
	message string
}

func (e *syntaxError) Error() string { return e.file + ": " + e.message }

// parseText reads YAML within the repository's limits.
func parseText(file, data string) ([]*yaml.Node, error) {
	const name = "text.yaml"
	one, err := repository.FromFiles(func(yield func(string, []byte) bool) { yield(name, []byte(data)) }, repository.Options{})
	if err != nil {
		return nil, err
	}
	f, ok := one.File(name)
	if !ok {
		return nil, nil
	}
	var nodes []*yaml.Node
	for _, d := range f.Documents {
		nodes = append(nodes, d.Root())
	}
	if f.Err != nil && f.Err.Reason.IsLimit() {
		bounds.Refuse(bounds.Unit{Kind: "text", File: file, Line: f.Err.Line}, f.Err.Message)
	}
	if f.Err != nil {
		return nodes, &syntaxError{file, f.Err.Line, f.Err.Message}
	}
	return nodes, nil
}

func shiftLines(nodes []*yaml.Node, f func(int) int) {
	for _, n := range nodes {
		n.Line = f(n.Line)
		shiftLines(n.Content, f)
	}
}

// decode reads a document.
func (h *helmfile) decode(n *yaml.Node) {
	file := h.file
	for _, b := range items(n, "bases") {
		h.bases = append(h.bases, text{place{file, b.Line}, b.Value, nil})
	}
	for _, repo := range items(n, "repositories") {
		h.repositories = append(h.repositories, chartRepository{name: scalarText(file, repo, "name"),
			url: scalarText(file, repo, "url"), oci: scalarText(file, repo, "oci").value == "true"})
	}
	eachField(n, "templates", func(name string, template *yaml.Node) {
		h.templates[name] = newRawRelease(file, template)
	})
	for _, list := range []string{"args", "templateArgs", "postRendererArgs"} {
		for _, arg := range items(n, "helmDefaults", list) {
			h.helmDefaults[list] = append(h.helmDefaults[list], arg.Value)
		}
	}
	h.decodeDefaultInherit(n)
	readTexts(h.commonLabels, file, repository.Lookup(n, "commonLabels"))
	h.namespace = scalarText(file, n, "namespace")
	h.missingFiles = scalarText(file, n, "missingFileHandler")
	h.defaults = entries(file, n, "values")
	eachField(n, "environments", func(name string, env *yaml.Node) {
		h.environments[name] = newEnvironmentSpec(file, env)
	})
	for _, c := range items(n, "helmfiles") {
		h.calls = append(h.calls, newCall(file, c))
	}
	for _, release := range items(n, "releases") {
		if release.Kind == yaml.MappingNode {
			raw := newRawRelease(file, release)
			raw.reads = h.readFor[release]
			h.releases = append(h.releases, raw)
		}
	}
}

func (h *helmfile) decodeDefaultInherit(n *yaml.Node) {
	list := items(n, "defaultInherit")
	if d := repository.Lookup(n, "defaultInherit"); d != nil && d.Kind == yaml.ScalarNode {
		list = []*yaml.Node{d}
	}
	for _, d := range list {
		if name := strings.TrimSpace(d.Value); name != "" {
			h.defaultInherit = append(h.defaultInherit, text{place{h.file, d.Line}, name, nil})
		}
	}
}

// eachField calls f with the fields of a map in a field.
func eachField(n *yaml.Node, field string, f func(name string, value *yaml.Node)) {
	m := repository.Lookup(n, field)
	if m == nil || m.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		f(m.Content[i].Value, repository.Lookup(m, m.Content[i].Value))
	}
}

// items of a list in a node, aliases resolved.
func items(n *yaml.Node, at ...any) []*yaml.Node {
	list := repository.Lookup(n, at...)
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	out := make([]*yaml.Node, len(list.Content))
	for i := range list.Content {
		out[i] = repository.Lookup(list, i)
	}
	return out
}

// scalarText is the scalar in a field, "" where there is none or it is null.
func scalarText(file string, n *yaml.Node, field string) text {
	v := repository.Lookup(n, field)
	line, _ := repository.Position(n, field)
	if v == nil || v.Kind != yaml.ScalarNode || v.ShortTag() == "!!null" {
		return text{place: place{file, line}}
	}
	return text{place: place{file, line}, value: v.Value}
}

func readTexts(into map[string]text, file string, n *yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		into[n.Content[i].Value] = scalarText(file, n, n.Content[i].Value)
	}
}
