package bootstrap

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// patch is a patch of a kustomization or of a Flux Kustomization.
type patch struct {
	place  // of the patch's first line
	body   string
	target *types.Selector // nil: what the body names
	nodes  []*yaml.Node    // of the body; none when it cannot be read
}

// patchesOf returns the patches of a kustomization and of its components.
func (g *graph) patchesOf(k *repository.Kustomize) []patch {
	known, done := g.patches[k]
	if !done {
		known = parsed(g.patchesWithin(k, 0))
		g.patches[k] = known
	}
	return known
}

// parsed reads the bodies of patches. One that cannot be read changes nothing:
// kustomize would fail.
func parsed(patches []patch) []patch {
	for i, p := range patches {
		nodes, err := parseText(p.file, p.body)
		if err == nil {
			shiftLines(nodes, func(line int) int { return line + p.line })
			patches[i].nodes = nodes
		}
	}
	return patches
}

func (g *graph) patchesWithin(k *repository.Kustomize, depth int) []patch {
	if k.Spec == nil || k.Document == nil || depth > 5 {
		return nil
	}
	var out []patch
	for _, ref := range k.Spec.Components {
		if dir, ok := repository.Join(k.Dir, ref); ok {
			if component, ok := g.repo.KustomizeAt(dir); ok && component != k {
				out = append(out, g.patchesWithin(component, depth+1)...)
			}
		}
	}
	for _, n := range items(k.Document.Node, "patchesStrategicMerge") {
		out = append(out, g.patchFrom(k.File.Path, n, n.Value))
	}
	for _, field := range []string{"patches", "patchesJson6902"} {
		out = append(out, g.patchList(k.File.Path, k.Document.Node, field)...)
	}
	return out
}

// fluxPatches returns spec.patches of a Flux Kustomization.
func (g *graph) fluxPatches(o *repository.Object) []patch {
	known, done := g.patches[o]
	if !done {
		known = parsed(g.patchList(o.File(), o.Node, "spec", "patches"))
		g.patches[o] = known
	}
	return known
}

func (g *graph) patchList(file string, n *yaml.Node, at ...any) []patch {
	list := items(n, at...)
	out := make([]patch, 0, len(list))
	for _, item := range list {
		var p patch
		if ref := scalarText(file, item, "path"); ref.value != "" {
			p = g.patchFrom(file, item, ref.value)
		} else if body := repository.Lookup(item, "patch"); body != nil {
			p = patch{place: place{file, body.Line}, body: body.Value}
		}
		if t := repository.Lookup(item, "target"); t != nil {
			p.target = selector(file, t)
		}
		out = append(out, p)
	}
	return out
}

func selector(file string, n *yaml.Node) *types.Selector {
	s := &types.Selector{LabelSelector: scalarText(file, n, "labelSelector").value,
		AnnotationSelector: scalarText(file, n, "annotationSelector").value}
	s.Gvk = resid.Gvk{Group: scalarText(file, n, "group").value, Version: scalarText(file, n, "version").value,
		Kind: scalarText(file, n, "kind").value}
	s.Name, s.Namespace = scalarText(file, n, "name").value, scalarText(file, n, "namespace").value
	return s
}

// patchFrom reads a patch that is given as a file's path, or as its text.
func (g *graph) patchFrom(file string, n *yaml.Node, ref string) patch {
	if p, ok := repository.Join(path.Dir(file), ref); ok && g.repo.Exists(p) {
		if data, err := g.repo.ReadFile(p); err == nil {
			return patch{place: place{p, 0}, body: string(data)}
		}
	}
	return patch{place: place{file, n.Line}, body: ref}
}

func (g *graph) collectInjectors(patches []patch) {
	for _, p := range patches {
		if strings.Contains(p.body, "postBuild") {
			g.injectors = append(g.injectors, p)
			g.hasPostBuild = true
		}
	}
}

// targets says whether the patch is aimed at an object. A patch without a
// target is aimed at what its body names.
func (p patch) targets(o *repository.Object) bool {
	if p.target == nil {
		return slices.ContainsFunc(p.nodes, func(n *yaml.Node) bool { return names(n, o) })
	}
	s, err := types.NewSelectorRegex(p.target)
	if err != nil || !s.MatchGvk(resid.Gvk{Group: o.Group(), Version: o.Version(), Kind: o.Kind}) || !s.MatchName(o.Name) {
		return false
	}
	return matchesSelector(p.target.LabelSelector, textMap(o, "labels")) &&
		matchesSelector(p.target.AnnotationSelector, textMap(o, "annotations"))
}

func names(n *yaml.Node, o *repository.Object) bool {
	meta := repository.Lookup(n, "metadata")
	return scalarText("", n, "kind").value == o.Kind && meta != nil && scalarText("", meta, "name").value == o.Name
}

// apply applies the patch to an object's value, which is not changed.
func (p patch) apply(o *repository.Object, v *value) *value {
	for _, n := range p.nodes {
		switch {
		case n.Kind == yaml.SequenceNode:
			for _, operation := range n.Content {
				v = applyOperation(v, p.file, operation)
			}
		case p.target != nil || names(n, o):
			if over, err := valueOf(p.file, n, asKustomize); err == nil && over.isMap {
				v = mergePatched(v, over, true)
			}
		}
	}
	return v
}

// mergePatched merges as a strategic merge patch of a custom resource does:
// null deletes, lists replace. The identity of the object stays.
func mergePatched(base, over *value, top bool) *value {
	if base == nil || !base.isMap || !over.isMap {
		return over
	}
	out := merged(base, emptyMap(over.place))
	out.place = base.place
	for _, key := range over.keys() {
		v := over.fields[key]
		switch {
		case top && (key == "metadata" || key == "kind" || key == "apiVersion"):
		case !v.isMap && !v.isList && v.scalar == nil:
			delete(out.fields, key)
		default:
			out.fields[key] = mergePatched(base.fields[key], v, false)
		}
	}
	return out
}

// applyOperation applies one operation of a JSON patch: add, replace or remove.
func applyOperation(v *value, file string, n *yaml.Node) *value {
	op, at := scalarText(file, n, "op").value, scalarText(file, n, "path").value
	var keys []string
	for key := range strings.SplitSeq(strings.TrimPrefix(at, "/"), "/") {
		keys = append(keys, strings.NewReplacer("~1", "/", "~0", "~").Replace(key))
	}
	var with *value
	if op == "add" || op == "replace" {
		node := repository.Lookup(n, "value")
		if node == nil {
			return v
		}
		var err error
		if with, err = valueOf(file, node, asKustomize); err != nil {
			return v
		}
	} else if op != "remove" {
		return v
	}
	return changed(v, keys, with, op == "add")
}

// changed returns a copy with the value at keys set (in a list inserted, when
// insert says so), or removed when with is nil.
func changed(v *value, keys []string, with *value, insert bool) *value {
	if v == nil {
		return nil
	}
	out := *v
	key, rest := keys[0], keys[1:]
	switch {
	case v.isMap:
		out.fields = map[string]*value{}
		for k, f := range v.fields {
			out.fields[k] = f
		}
		switch {
		case len(rest) > 0 && v.fields[key] != nil:
			out.fields[key] = changed(v.fields[key], rest, with, insert)
		case len(rest) == 0 && with == nil:
			delete(out.fields, key)
		case len(rest) == 0:
			out.fields[key] = with
		}
	case v.isList:
		out.items = slices.Clone(v.items)
		i, err := strconv.Atoi(key)
		switch {
		case key == "-" && with != nil && len(rest) == 0:
			out.items = append(out.items, with)
		case err != nil || i < 0 || i >= len(v.items):
		case len(rest) > 0:
			out.items[i] = changed(v.items[i], rest, with, insert)
		case insert:
			out.items = slices.Insert(out.items, i, with)
		case with == nil:
			out.items = slices.Delete(out.items, i, i+1)
		default:
			out.items[i] = with
		}
	}
	return &out
}
