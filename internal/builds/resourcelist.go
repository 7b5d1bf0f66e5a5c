package builds

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// unknownData stands for the data of a file that is not given: an object that holds it isn't
// known.
const unknownData = "fleetwright-data-not-given"

// omitter takes out of a kustomization what it refers to and is not given.
type omitter struct {
	repo      *repository.Repository
	dir, file string
	gaps      []Gap
}

// omit removes the references of a kustomization to files and folders that a ResourceList
// doesn't hold, and does nothing in a repository whose files are all at hand. What a generator
// reads becomes unknown data. It changes the kustomization only where it returns gaps.
func omit(repo *repository.Repository, dir, file string, k *types.Kustomization) []Gap {
	if !repo.Partial() {
		return nil
	}
	o := &omitter{repo: repo, dir: dir, file: file}
	all := hidden{some: true}
	k.Resources = o.keep(k.Resources, true, hidden{})
	k.Bases = o.keep(k.Bases, true, hidden{}) //nolint:staticcheck // older repositories use it
	k.Generators = o.keep(k.Generators, false, hidden{})
	k.Validators = o.keep(k.Validators, false, hidden{})
	k.Components = o.keep(k.Components, true, all)
	k.Transformers = o.keep(k.Transformers, false, all)
	k.Configurations = o.keep(k.Configurations, false, all)
	k.Crds = o.keep(k.Crds, false, all)
	o.patches(k)
	for i := range k.ConfigMapGenerator {
		o.generator("ConfigMap", &k.ConfigMapGenerator[i].GeneratorArgs)
	}
	for i := range k.SecretGenerator {
		o.generator("Secret", &k.SecretGenerator[i].GeneratorArgs)
	}
	if schema := k.OpenAPI["path"]; schema != "" && !o.given(schema) {
		o.gap(schema, all)
		k.OpenAPI = nil
	}
	return o.gaps
}

func (o *omitter) gap(ref string, hides hidden) {
	o.gaps = append(o.gaps, Gap{Kind: NotGiven, File: o.file, hides: hides,
		Message: fmt.Sprintf("%q is not among the items of the ResourceList", firstLine(ref))})
}

// given says whether a file or folder is at hand; one outside of the repository is left to
// kustomize to refuse.
func (o *omitter) given(ref string) bool {
	at, inside := repository.Join(o.dir, ref)
	if !inside || strings.Contains(ref, "\n") || o.repo.Exists(at) {
		return true
	}
	_, folder := o.repo.ReadDir(at)
	return folder
}

// keep returns the references of a field that are given; a folder of kustomize's is where its
// kustomization is.
func (o *omitter) keep(refs []string, folders bool, hides hidden) []string {
	return slices.DeleteFunc(slices.Clone(refs), func(ref string) bool {
		at, inside := repository.Join(o.dir, ref)
		if o.given(ref) && (!folders || !inside || o.repo.Exists(at) || o.buildable(at)) {
			return false
		}
		o.gap(ref, hides)
		return true
	})
}

// buildable says whether a folder has a kustomization.
func (o *omitter) buildable(dir string) bool {
	_, ok := o.repo.KustomizeAt(dir)
	return ok
}

func (o *omitter) patches(k *types.Kustomization) {
	drop := func(patches []types.Patch) []types.Patch {
		return slices.DeleteFunc(slices.Clone(patches), func(p types.Patch) bool {
			if p.Path == "" || o.given(p.Path) {
				return false
			}
			o.gap(p.Path, targets(p.Target))
			return true
		})
	}
	k.Patches = drop(k.Patches)
	k.PatchesJson6902 = drop(k.PatchesJson6902)                                                                                 //nolint:staticcheck // older repositories use it
	k.PatchesStrategicMerge = slices.DeleteFunc(slices.Clone(k.PatchesStrategicMerge), func(p types.PatchStrategicMerge) bool { //nolint:staticcheck // older repositories use it
		if strings.ContainsAny(string(p), "\n{:") || o.given(string(p)) {
			return false
		}
		o.gap(string(p), hidden{some: true})
		return true
	})
	k.Replacements = slices.DeleteFunc(slices.Clone(k.Replacements), func(r types.ReplacementField) bool {
		if r.Path == "" || o.given(r.Path) {
			return false
		}
		o.gap(r.Path, hidden{some: true})
		return true
	})
}

// Kinds and names in a target are regular expressions; these are plain.
var (
	plainKind = regexp.MustCompile(`^[A-Za-z0-9]+$`)
	plainName = regexp.MustCompile(`^[a-z0-9-]+$`)
)

// targets are the objects that a patch may change. Prefixes and suffixes come to their names.
func targets(t *types.Selector) hidden {
	h := hidden{some: true}
	if t == nil {
		return h
	}
	if plainKind.MatchString(t.Kind) {
		h.kind = t.Kind
	}
	if plainName.MatchString(t.Name) {
		h.name = t.Name
	}
	return h
}

// generator makes the data of files that are not given unknown. The hash of what it generates
// is then unknown, too, and left out of the name.
func (o *omitter) generator(kind string, g *types.GeneratorArgs) {
	before := len(o.gaps)
	missed := func(file string) bool {
		if file == "" || o.given(file) {
			return false
		}
		o.gap(file, hidden{some: true, kind: kind, name: g.Name})
		return true
	}
	literals := slices.Clone(g.LiteralSources)
	g.FileSources = slices.DeleteFunc(slices.Clone(g.FileSources), func(ref string) bool {
		key, file, keyed := strings.Cut(ref, "=")
		if !keyed {
			key, file = ref[strings.LastIndex(ref, "/")+1:], ref
		}
		if !missed(file) {
			return false
		}
		literals = append(literals, key+"="+unknownData)
		return true
	})
	g.EnvSources = slices.DeleteFunc(slices.Clone(g.EnvSources), missed)
	if missed(g.EnvSource) {
		g.EnvSource = ""
	}
	if len(o.gaps) == before {
		return
	}
	g.LiteralSources = literals
	options := types.GeneratorOptions{}
	if g.Options != nil {
		options = *g.Options
	}
	options.DisableNameSuffixHash = true
	g.Options = &options
}

// hide takes the objects out of a build that what is not given may change.
func (b *Built) hide() {
	var hides []hidden
	for _, g := range b.Gaps {
		if g.hides.some {
			hides = append(hides, g.hides)
		}
	}
	if len(hides) == 0 {
		return
	}
	b.Results = slices.DeleteFunc(b.Results, func(r Result) bool {
		return holdsUnknown(r.Value) || slices.ContainsFunc(hides, func(h hidden) bool {
			return (h.kind == "" || h.kind == r.Kind) && strings.Contains(r.Name, h.name)
		})
	})
}

// holdsUnknown says whether a value was made of data that is not given.
func holdsUnknown(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.Contains(v, unknownData)
	case []any:
		return slices.ContainsFunc(v, holdsUnknown)
	case map[string]any:
		for _, child := range v {
			if holdsUnknown(child) {
				return true
			}
		}
	}
	return false
}

// given returns a build of a ResourceList with a gap in place of a failure where what is not given
// may be why it fails: then Flux may build it. Err is kustomize's error, nil where it was not asked.
func (v *view) given(b *Built, err error) *Built {
	if !v.Repo.Partial() {
		return b
	}
	missed := slices.ContainsFunc(b.Gaps, func(g Gap) bool { return g.Kind == NotGiven })
	switch {
	case missed:
		b.Failure, b.Unbuilt = nil, err != nil
	case b.Failure != nil && (v.manifest != nil || err == nil || v.missed):
		b.Gaps = append(b.Gaps, Gap{Kind: NotGiven, File: b.Failure.File,
			Message: "a ResourceList has only files with objects: " + b.Failure.Message})
		b.Failure, b.Unbuilt = nil, true
	}
	b.hide()
	return b
}

// miss notes that kustomize looked for a file or folder that isn't there; it tries several names
// of a kustomization, and inline texts as paths.
func (v *view) miss(rel string) {
	if !v.IsDir(absolute(rel)) && !strings.ContainsAny(rel, "\n{") && !repository.IsKustomization(rel) {
		v.mu.Lock()
		v.missed = true
		v.mu.Unlock()
	}
}
