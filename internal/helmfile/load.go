package helmfile

import (
	"errors"
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
	r.Reads = map[string]bool{}
	whole := strings.ReplaceAll(string(data), "\r\n", "\n")
	out := newHelmfile(file, dir)
	if reason, line := againstPolicy(whole); reason != "" {
		out.refuse(located.At(file, line), reason)
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
		own.refuse(own.bases[0].Place, "nested `base` helmfile is unsupported. please submit a feature request if you need this!")
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
			own.refuse(base.Place, "open "+own.relative(p)+": no such file or directory")
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
		into := templates.Copied(both[0])
		if err := mergo.Merge(&into, templates.Copied(both[1]), mergo.WithAppendSlice, mergo.WithOverride); err != nil {
			h.refuseIf(!h.env.open() && !layer.env.open(), located.At(layer.file, 1), err.Error())
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

// breaks notes the first part that can't be read, which begins at the line offset.
func (h *helmfile) breaks(err error, offset int) {
	if broken := (*located.SyntaxError)(nil); errors.As(err, &broken) && h.broken == nil {
		h.broken = &brokenPart{line: offset + max(broken.Line, 1), reason: "the file " + broken.Message}
	}
}

// leavesOpen notes why a part is not evaluated; one whose template certainly fails is refused.
func (h *helmfile) leavesOpen(err error, offset int) {
	if h.broken == nil {
		reason := templates.Reason(err)
		reason = reason[max(strings.Index(reason, templates.ErrUndecided.Error()), 0):]
		h.broken = &brokenPart{line: offset + templates.LineOf(err), reason: "the file was not evaluated: " + reason}
	}
}

// documents reads a part, which is a template in a *.gotmpl file, and in a file
// that is no YAML without being rendered (helmfile before v1 rendered all).
func (r *reader) documents(h *helmfile, part string, offset int, env *environment) []*yaml.Node {
	file := h.file
	data := env.stateData()
	if !strings.HasSuffix(file, ".gotmpl") {
		nodes, err := located.Parse(file, part)
		if err == nil || !strings.Contains(part, "{{") {
			h.breaks(err, offset)
			r.checkFields(h, part, offset, func(line int) int { return line + offset })
			located.ShiftLines(nodes, func(line int) int { return line + offset })
			return nodes
		}
		h.guessed = true
		r.checkFields(h, part, offset, func(line int) int { return line + offset })
	}
	var reads []templates.ReadAt
	rendered, failed := r.Render(h.dir, part, data)
	if failed != nil {
		if !templates.IsUndecided(failed) {
			h.refuseIf(r.Certain && !env.open(), located.At(file, offset+templates.LineOf(failed)), templates.Reason(failed))
		}
		h.guessed = true
		rendered = r.Salvage(h.dir, part, data, failed)
	} else {
		reads = r.LastReads()
	}
	original := originalLines(part, rendered, offset)
	r.checkFields(h, rendered, offset, original)
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
	h.attribute(reads, rendered, nodes)
	located.ShiftLines(nodes, original)
	return nodes
}

// attribute notes which release of a rendered part the template read which file
// for: what it reads before it has written the first one is for all or none.
func (h *helmfile) attribute(reads []templates.ReadAt, rendered string, nodes []*yaml.Node) {
	for _, n := range nodes {
		releases := repository.Lookup(n, "releases")
		if releases == nil || releases.Kind != yaml.SequenceNode {
			continue
		}
		for _, each := range reads {
			line := 1 + strings.Count(rendered[:min(each.After, len(rendered))], "\n")
			for i := len(releases.Content) - 1; i >= 0; i-- {
				if release := releases.Content[i]; release.Line <= line {
					if h.readFor[release] == nil {
						h.readFor[release] = map[string]bool{}
					}
					h.readFor[release][each.Path] = true
					break
				}
			}
		}
	}
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

// decode reads a document.
func (h *helmfile) decode(n *yaml.Node) {
	file := h.file
	for _, b := range located.Items(n, "bases") {
		h.bases = append(h.bases, located.Text{Place: located.At(file, b.Line), Value: b.Value})
	}
	for _, repo := range located.Items(n, "repositories") {
		h.repositories = append(h.repositories, chartRepository{name: located.ScalarText(file, repo, "name"),
			url: located.ScalarText(file, repo, "url"), oci: located.ScalarText(file, repo, "oci").Value == "true",
			plainHTTP: isTrue(located.ScalarText(file, repo, "plainHttp").Value)})
	}
	located.EachField(n, "templates", func(name string, template *yaml.Node) {
		h.templates[name] = newRawRelease(file, template)
	})
	for _, list := range []string{"args", "templateArgs", "postRendererArgs"} {
		for _, arg := range located.Items(n, "helmDefaults", list) {
			h.helmDefaults[list] = append(h.helmDefaults[list], arg.Value)
		}
	}
	if program := located.ScalarText(file, repository.Lookup(n, "helmDefaults"), "postRenderer"); program.Value != "" {
		h.helmDefaults["postRenderer"] = []string{program.Value}
	}
	for _, option := range []string{"devel", "plainHttp"} {
		if t := located.ScalarText(file, repository.Lookup(n, "helmDefaults"), option); t.Value != "" {
			h.helmDefaults[option] = []string{t.Value}
		}
	}
	h.decodeDefaultInherit(n)
	located.ReadTexts(h.commonLabels, file, repository.Lookup(n, "commonLabels"))
	h.namespace = located.ScalarText(file, n, "namespace")
	h.missingFiles = located.ScalarText(file, n, "missingFileHandler")
	h.defaults = entries(file, n, "values")
	located.EachField(n, "environments", func(name string, env *yaml.Node) {
		h.environments[name] = newEnvironmentSpec(file, env)
	})
	for _, c := range located.Items(n, "helmfiles") {
		h.calls = append(h.calls, newCall(file, c))
	}
	for _, release := range located.Items(n, "releases") {
		if release.Kind == yaml.MappingNode {
			raw := newRawRelease(file, release)
			raw.reads = h.readFor[release]
			h.releases = append(h.releases, raw)
		}
	}
}

func (h *helmfile) decodeDefaultInherit(n *yaml.Node) {
	list := located.Items(n, "defaultInherit")
	if d := repository.Lookup(n, "defaultInherit"); d != nil && d.Kind == yaml.ScalarNode {
		list = []*yaml.Node{d}
	}
	for _, d := range list {
		if name := strings.TrimSpace(d.Value); name != "" {
			h.defaultInherit = append(h.defaultInherit, located.Text{Place: located.At(h.file, d.Line), Value: name})
		}
	}
}
