package flux

import (
	"cmp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// moves collects the findings about deprecated API versions and the edits that fix them. Edits that must happen together
// form a group: the edits of an object, of the patches that name the object with its version, and of the other objects
// that these patches name.
type moves struct {
	pass    *rule.Pass
	pending []move
	patches map[*reconcile.Kustomization][]versioned
	// group maps the place of an edit to the place of the first edit of its group, possibly in several steps;
	// see root.
	group map[finding.Place]finding.Place
	edits map[finding.Place]finding.Edit
}

// move is a finding about an object. own is the place of the edit in the object's document; nil if there is
// none.
type move struct {
	object  *reconcile.Object
	finding finding.Finding
	own     *finding.Place
}

// versioned is a patch, or the target of a patch, that names objects together with an API version.
type versioned struct {
	apiVersion, kind, name string
	// target reports whether this is a target. Then apiVersion holds the version without the group, and kind
	// and name may be empty.
	target bool
	edit   finding.Edit
}

// add adds a finding about an object. to is the API version that its fix writes, "" for no fix.
func (m *moves) add(o *reconcile.Object, f finding.Finding, to string) {
	one := move{object: o, finding: f}
	if fix := m.pass.ReplaceText(o, to, "apiVersion"); to != "" && fix != nil {
		at := m.note(fix.Edits[0])
		one.own = &at
		if o.Kustomization != nil {
			m.couple(o, at, to)
		}
	}
	m.pending = append(m.pending, one)
}

// note stores an edit and returns its place.
func (m *moves) note(e finding.Edit) finding.Place {
	at := e.Place
	if _, known := m.edits[at]; !known {
		m.edits[at], m.group[at] = e, at
	}
	return at
}

// couple adds the patches of an object to the object's group of edits.
func (m *moves) couple(o *reconcile.Object, at finding.Place, to string) {
	k := o.Kustomization
	all, known := m.patches[k]
	if !known {
		all = patchesOf(m.pass, k)
		m.patches[k] = all
	}
	_, version, _ := strings.Cut(to, "/")
	for _, v := range all {
		old := o.APIVersion
		text := to
		if v.target {
			_, old, _ = strings.Cut(old, "/")
			text = version
		}
		if v.apiVersion != old || v.kind != o.Kind && (v.kind != "" || !v.target) || v.name != o.Source.Name && (v.name != "" || !v.target) {
			continue
		}
		e := v.edit
		e.New = strings.Replace(e.Old, old, text, 1)
		m.group[m.root(m.note(e))] = m.root(at)
	}
}

// root returns the place of the edit that represents the group of an edit.
func (m *moves) root(at finding.Place) finding.Place {
	for m.group[at] != at {
		m.group[at] = m.group[m.group[at]]
		at = m.group[at]
	}
	return at
}

// report reports the findings. Findings of one group share one fix.
func (m *moves) report() {
	fixes := map[finding.Place]*finding.Fix{}
	for at, e := range m.edits {
		root := m.root(at)
		if fixes[root] == nil {
			fixes[root] = &finding.Fix{}
		}
		fixes[root].Edits = append(fixes[root].Edits, e)
	}
	for _, fix := range fixes {
		sorting.Func(fix.Edits, func(a, b finding.Edit) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
	}
	for _, one := range m.pending {
		if one.own != nil {
			one.finding.Fix = fixes[m.root(*one.own)]
		}
		m.pass.ReportBuilt(one.object, one.finding, "apiVersion")
	}
}

// patchesOf returns the patches of a Kustomization that name objects with a version: patch files, the inline
// patches of kustomization.yaml files, and spec.patches.
func patchesOf(p *rule.Pass, k *reconcile.Kustomization) []versioned {
	var all []versioned
	for _, name := range k.Files {
		file, ok := p.Repo.File(name)
		if !ok || file.FromItems {
			continue
		}
		for _, d := range file.Documents {
			for _, o := range d.Objects {
				if p.Repo.Use(name) != repository.Patch {
					continue
				}
				if e, ok := rule.ReplaceNode(name, repository.Lookup(o.Node, "apiVersion"), o.APIVersion); ok {
					all = append(all, versioned{apiVersion: o.APIVersion, kind: o.Kind, name: o.Name, edit: e})
				}
			}
			if repository.IsKustomization(name) {
				all = append(all, inlinePatches(p.Repo, name, d.Lookup("patches"))...)
				all = append(all, inlinePatches(p.Repo, name, d.Lookup("patchesStrategicMerge"))...)
				all = append(all, inlinePatches(p.Repo, name, d.Lookup("patchesJson6902"))...)
			}
		}
	}
	if o := k.Object; o != nil && o.Source != nil && o.Group == fluxapi.KustomizeGroup && !o.Source.Document.File.FromItems {
		if _, own := p.Repo.File(o.File); own {
			all = append(all, inlinePatches(p.Repo, o.File, o.Source.Lookup("spec", "patches"))...)
		}
	}
	return all
}

// inlinePatches returns the versioned entries of a list of patches: strategic merge patches without a target,
// and targets with a version.
func inlinePatches(repo *repository.Repository, file string, list *yaml.Node) []versioned {
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	var all []versioned
	for _, item := range list.Content {
		patch, target := item, repository.Lookup(item, "target")
		if item.Kind == yaml.MappingNode {
			patch = repository.Lookup(item, "patch")
		}
		text := func(n *yaml.Node, path ...any) string {
			if at := repository.Lookup(n, path...); at != nil {
				return at.Value
			}
			return ""
		}
		if version := repository.Lookup(target, "version"); version != nil {
			if e, ok := rule.ReplaceNode(file, version, version.Value); ok {
				all = append(all, versioned{apiVersion: version.Value, kind: text(target, "kind"), name: text(target, "name"), target: true, edit: e})
			}
		}
		if patch != nil && target == nil {
			all = append(all, blockPatch(repo, file, patch)...)
		}
	}
	return all
}

// blockPatch returns the patch in a YAML block scalar.
func blockPatch(repo *repository.Repository, file string, n *yaml.Node) []versioned {
	if n.Kind != yaml.ScalarNode || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		return nil
	}
	var head struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Metadata   struct {
			Name string `yaml:"name"`
		} `yaml:"metadata"`
	}
	if yaml.Unmarshal([]byte(n.Value), &head) != nil || head.APIVersion == "" {
		return nil
	}
	data, err := repo.ReadFile(file)
	if err != nil {
		return nil
	}
	lines := strings.Split(string(data), "\n")
	for i := n.Line; i < min(len(lines), n.Line+strings.Count(n.Value, "\n")+2); i++ {
		before, value, found := strings.Cut(lines[i], "apiVersion:")
		if !found || strings.TrimSpace(before) != "" {
			continue
		}
		value = strings.TrimRight(value, " \r")
		start := strings.TrimLeft(value, " ")
		if strings.Trim(start, `"'`) != head.APIVersion {
			return nil
		}
		column := len(before) + len("apiVersion:") + len(value) - len(start) + 1
		return []versioned{{apiVersion: head.APIVersion, kind: head.Kind, name: head.Metadata.Name, edit: finding.Edit{Place: finding.Place{File: file, Line: i + 1, Column: column}, Old: start, New: start}}}
	}
	return nil
}
