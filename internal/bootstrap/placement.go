package bootstrap

import (
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetwright/fleetwright/internal/repository"
)

const (
	kustomizeGroup = "kustomize.toolkit.fluxcd.io"
	helmGroup      = "helm.toolkit.fluxcd.io"
	sourceGroup    = "source.toolkit.fluxcd.io"
)

// placement is one way in which Flux comes to apply a file: through a chain of
// kustomizations, up to a Flux Kustomization.
type placement struct {
	// namespace that the chain sets, "" when none does.
	namespace string
	// flux is the Flux Kustomization at the end, nil when none was found.
	flux *repository.Object
	// chain of kustomizations, the innermost first.
	chain []*repository.Kustomize
	// cluster that the Flux Kustomization's file belongs to.
	cluster string
}

// graph knows which kustomizations bring which file to the cluster.
type graph struct {
	repo *repository.Repository
	// listed maps a file or a folder to the kustomizations that list it.
	listed map[string][]*repository.Kustomize
	// roots maps a folder to the Flux Kustomizations whose path it is.
	roots map[string][]*repository.Object
	// injectors are the patches on Flux Kustomizations that add a postBuild.
	injectors []patch
	// hasPostBuild says that some Flux Kustomization substitutes.
	hasPostBuild bool

	placed  map[string][]placement
	patches map[any][]patch // of a kustomization or a Flux Kustomization
}

func newGraph(repo *repository.Repository) *graph {
	g := &graph{repo: repo, listed: map[string][]*repository.Kustomize{}, roots: map[string][]*repository.Object{},
		placed: map[string][]placement{}, patches: map[any][]patch{}}
	for _, k := range repo.Kustomizes() {
		if k.Spec == nil {
			continue
		}
		for _, ref := range slices.Concat(k.Spec.Resources, k.Spec.Components) {
			if p, ok := repository.Join(k.Dir, ref); ok {
				g.listed[p] = append(g.listed[p], k)
			}
		}
		g.collectInjectors(g.patchesOf(k))
	}
	for _, o := range repo.ByKind(kustomizeGroup, "Kustomization") {
		if p, ok := o.Text("spec", "path"); ok && !strings.Contains(p, "${") {
			dir := path.Clean(strings.TrimLeft(p, "/"))
			g.roots[dir] = append(g.roots[dir], o)
		}
		if o.Lookup("spec", "postBuild") != nil {
			g.hasPostBuild = true
		}
		g.collectInjectors(g.fluxPatches(o))
	}
	return g
}

const maxPlacements = 64

// placements of a file, in a fixed order. A file that no kustomization lists,
// in a folder that has none, is placed by the Flux Kustomization of a folder
// above it. Without any, there is one empty placement.
func (g *graph) placements(file string) []placement {
	if known, done := g.placed[file]; done {
		return known
	}
	out := g.place(file)
	g.placed[file] = out
	return out
}

func (g *graph) place(file string) []placement {
	var out []placement
	seen := map[string]bool{}
	var climb func(dir string, p placement)
	up := func(target string, p placement) {
		for _, k := range g.listed[target] {
			next := p
			next.chain = append(slices.Clone(p.chain), k)
			if k.Spec.Namespace != "" {
				next.namespace = k.Spec.Namespace
			}
			climb(k.Dir, next)
		}
	}
	climb = func(dir string, p placement) {
		key := dir + "\x00" + p.namespace
		if seen[key] || len(out) >= maxPlacements || len(p.chain) > 50 {
			return
		}
		seen[key] = true
		before := len(out)
		for _, o := range g.roots[dir] {
			out = append(out, p.under(o))
		}
		up(dir, p)
		if len(out) == before && len(p.chain) > 0 {
			out = append(out, p)
		}
	}
	up(file, placement{})
	if len(out) == 0 {
		if _, has := g.repo.KustomizeAt(path.Dir(file)); !has {
			out = g.plain(path.Dir(file))
		}
	}
	if len(out) == 0 {
		out = []placement{{}}
	}
	return out
}

// plain finds the Flux Kustomizations that read a folder without kustomization.
func (g *graph) plain(dir string) []placement {
	for {
		out := make([]placement, 0, len(g.roots[dir]))
		for _, o := range g.roots[dir] {
			out = append(out, placement{}.under(o))
		}
		if _, has := g.repo.KustomizeAt(dir); len(out) > 0 || has || dir == "." {
			return out
		}
		dir = path.Dir(dir)
	}
}

func (p placement) under(o *repository.Object) placement {
	p.flux = o
	p.cluster = clusterOf(o.File())
	if ns, ok := o.Text("spec", "targetNamespace"); ok {
		p.namespace = ns
	}
	return p
}

// clusterOf names the cluster that a path belongs to by the conventions of
// Flux's repositories: clusters/NAME/…; "" when it names none.
func clusterOf(file string) string {
	parts := strings.Split(file, "/")
	for i, part := range parts[:len(parts)-1] {
		if part == "clusters" && i+1 < len(parts)-1 {
			return parts[i+1]
		}
	}
	return ""
}

// substitutes says whether Flux substitutes variables in what a placement
// applies.
func (g *graph) substitutes(p placement) bool {
	if p.flux == nil {
		return g.hasPostBuild
	}
	if p.flux.Lookup("spec", "postBuild") != nil {
		return true
	}
	return slices.ContainsFunc(g.injectors, func(each patch) bool { return each.targets(p.flux) })
}

// matchesSelector says whether labels match a selector; one that cannot be read
// is taken to match.
func matchesSelector(selector string, of map[string]string) bool {
	if selector == "" {
		return true
	}
	s, err := labels.Parse(selector)
	return err != nil || s.Matches(labels.Set(of))
}

func textMap(o *repository.Object, field string) map[string]string {
	m := map[string]text{}
	readTexts(m, o.File(), o.Lookup("metadata", field))
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = v.value
	}
	return out
}
