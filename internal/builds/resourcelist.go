package builds

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// unknownData replaces the data of a file that is not available: an object that contains it is
// unknown.
const unknownData = "fleetwright-data-not-available"

// omitter removes the references of a kustomization to files that are not available.
type omitter struct {
	repo      *repository.Repository
	dir, file string
	gaps      []Gap
}

// omit removes the references of a kustomization to files and folders that a ResourceList
// doesn't contain, and returns a gap for each. The data of a generator becomes unknown. Omit does nothing in a repository
// whose files are all available.
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
	if schema := k.OpenAPI["path"]; schema != "" && !o.available(schema) {
		o.gap(schema, all)
		k.OpenAPI = nil
	}
	return o.gaps
}

func (o *omitter) gap(ref string, hides hidden) {
	o.gaps = append(o.gaps, Gap{Kind: FilesMissing, Place: finding.Place{File: o.file}, hides: hides,
		Message: fmt.Sprintf("%q is not among the items of the ResourceList", firstLine(ref))})
}

// available reports whether a file or folder is available. It returns true for a path outside of the repository, which
// kustomize refuses.
func (o *omitter) available(ref string) bool {
	at, inside := repository.Join(o.dir, ref)
	if !inside || strings.Contains(ref, "\n") || o.repo.Exists(at) {
		return true
	}
	_, folder := o.repo.ReadDir(at)
	return folder
}

// keep returns the references of a field that are available, and adds a gap for each other one. If folders is set, a
// folder must contain a kustomization.
func (o *omitter) keep(refs []string, folders bool, hides hidden) []string {
	return slices.DeleteFunc(slices.Clone(refs), func(ref string) bool {
		at, inside := repository.Join(o.dir, ref)
		if o.available(ref) && (!folders || !inside || o.repo.Exists(at) || o.buildable(at)) {
			return false
		}
		o.gap(ref, hides)
		return true
	})
}

// buildable reports whether a folder has a kustomization.
func (o *omitter) buildable(dir string) bool {
	_, ok := o.repo.KustomizeAt(dir)
	return ok
}

func (o *omitter) patches(k *types.Kustomization) {
	drop := func(patches []types.Patch) []types.Patch {
		return slices.DeleteFunc(slices.Clone(patches), func(p types.Patch) bool {
			if p.Path == "" || o.available(p.Path) {
				return false
			}
			o.gap(p.Path, targets(p.Target))
			return true
		})
	}
	k.Patches = drop(k.Patches)
	k.PatchesJson6902 = drop(k.PatchesJson6902)                                                                                 //nolint:staticcheck // older repositories use it
	k.PatchesStrategicMerge = slices.DeleteFunc(slices.Clone(k.PatchesStrategicMerge), func(p types.PatchStrategicMerge) bool { //nolint:staticcheck // older repositories use it
		if strings.ContainsAny(string(p), "\n{:") || o.available(string(p)) {
			return false
		}
		o.gap(string(p), hidden{some: true})
		return true
	})
	k.Replacements = slices.DeleteFunc(slices.Clone(k.Replacements), func(r types.ReplacementField) bool {
		if r.Path == "" || o.available(r.Path) {
			return false
		}
		o.gap(r.Path, hidden{some: true})
		return true
	})
}

// Patterns for the kinds and names in a target that match only themselves: both are regular expressions.
var (
	plainKind = regexp.MustCompile(`^[A-Za-z0-9]+$`)
	plainName = regexp.MustCompile(`^[a-z0-9-]+$`)
)

// targets returns the objects that a patch may change. A name may also have prefixes and suffixes.
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

// generator replaces the data of unavailable files with unknown data. The hash of the generated object
// is then unknown, too, and is left out of its name.
func (o *omitter) generator(kind string, g *types.GeneratorArgs) {
	before := len(o.gaps)
	missed := func(file string) bool {
		if file == "" || o.available(file) {
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

// hide removes the objects from a build that unavailable files may change.
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

// holdsUnknown reports whether a value contains data of an unavailable file.
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

// excuse turns the failure of a build of a ResourceList into a gap if unavailable files may be the reason:
// Flux may be able to build it. err is kustomize's error, nil if kustomize was not called.
func (v *view) excuse(b *Built, err error) *Built {
	if !v.Repo.Partial() {
		return b
	}
	missed := slices.ContainsFunc(b.Gaps, func(g Gap) bool { return g.Kind == FilesMissing })
	switch {
	case missed:
		b.Failure, b.Unbuilt = nil, err != nil
	case b.Failure != nil && (v.manifest != nil || err == nil || v.missed):
		b.Gaps = append(b.Gaps, Gap{Kind: FilesMissing, Place: finding.Place{File: b.Failure.File},
			Message: "a ResourceList has only files with objects: " + b.Failure.Message})
		b.Failure, b.Unbuilt = nil, true
	}
	b.hide()
	return b
}

// miss records that kustomize looked for a file or folder that does not exist. It ignores the names
// of kustomizations, of which kustomize tries several, and inline strings, which it tries as paths.
func (v *view) miss(rel string) {
	if !v.IsDir(absolute(rel)) && !strings.ContainsAny(rel, "\n{") && !repository.IsKustomization(rel) {
		v.mu.Lock()
		v.missed = true
		v.mu.Unlock()
	}
}
