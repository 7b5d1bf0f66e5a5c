package schema

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// patches holds the kinds that some patch of the repository changes: a field that such an object lacks in its file may
// exist after the build.
type patches struct {
	kinds map[string]bool
	// any reports whether the target of some patch names no kind, or a pattern.
	any bool
}

func (p patches) mayChange(o *repository.Object) bool { return p.any || p.kinds[o.Kind] }

func findPatches(repo *repository.Repository) patches {
	p := patches{kinds: map[string]bool{}}
	for _, k := range repo.Kustomizes() {
		if k.Spec == nil {
			continue
		}
		for _, patch := range k.Spec.Patches {
			p.add(repo, k.Dir, patch)
		}
		for _, patch := range k.Spec.PatchesJson6902 { //nolint:staticcheck // older repositories use it
			p.add(repo, k.Dir, patch)
		}
		for _, patch := range k.Spec.PatchesStrategicMerge { //nolint:staticcheck // older repositories use it
			p.addText(repo, k.Dir, string(patch))
		}
		for _, r := range k.Spec.Replacements {
			p.addReplacement(r)
		}
	}
	for _, o := range repo.ByKind(fluxapi.KustomizeGroup, "Kustomization") {
		p.addFlux(repo, o)
	}
	return p
}

func (p *patches) addReplacement(r types.ReplacementField) {
	if r.Path != "" {
		p.any = true
	}
	for _, target := range r.Targets {
		if target != nil && target.Select != nil {
			p.addKind(target.Select.Kind)
		}
	}
}

// addFlux adds the patches of a Flux Kustomization.
func (p *patches) addFlux(repo *repository.Repository, o *repository.Object) {
	list := o.Lookup("spec", "patches")
	if list == nil {
		return
	}
	for _, item := range list.Content {
		patch := types.Patch{}
		if text := repository.Lookup(item, "patch"); text != nil {
			patch.Patch = text.Value
		}
		if target := repository.Lookup(item, "target"); target != nil {
			patch.Target = &types.Selector{}
			if kind := repository.Lookup(target, "kind"); kind != nil {
				patch.Target.Kind = kind.Value
			}
		}
		p.add(repo, ".", patch)
	}
}

func (p *patches) add(repo *repository.Repository, dir string, patch types.Patch) {
	switch {
	case patch.Target != nil:
		p.addKind(patch.Target.Kind)
	case patch.Path != "":
		p.addText(repo, dir, patch.Path)
	default:
		p.addText(repo, dir, patch.Patch)
	}
}

// plainKind matches a kind; a target's kind may also be a regular expression.
var plainKind = regexp.MustCompile(`^[A-Za-z0-9]+$`)

func (p *patches) addKind(kind string) {
	if plainKind.MatchString(kind) {
		p.kinds[kind] = true
		return
	}
	p.any = true
}

// addText adds the kinds of a patch, which is in a file or is the string itself.
func (p *patches) addText(repo *repository.Repository, dir, ref string) {
	if file, ok := repository.Join(dir, ref); ok {
		if f, found := repo.File(file); found {
			for _, d := range f.Documents {
				for _, o := range d.Objects {
					p.addKind(o.Kind)
				}
			}
			return
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(ref))
	for {
		var head struct {
			Kind string `yaml:"kind"`
		}
		if decoder.Decode(&head) != nil {
			return
		}
		if head.Kind != "" {
			p.addKind(head.Kind)
		}
	}
}
