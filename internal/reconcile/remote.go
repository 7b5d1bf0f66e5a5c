package reconcile

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
)

// mostRemote is the number of clusters from which on clusters that another cluster starts are not followed: the coverage
// lists their Kustomizations.
const mostRemote = 100

// walkAll walks from the roots, and from the roots of clusters that they start through spec.kubeConfig.
func walkAll(ctx context.Context, starts []roots.Root, follow bool, begin func() *walker) []*walker {
	var all []*walker
	known := map[string]bool{}
	for len(starts) > 0 && ctx.Err() == nil {
		round := make([]*walker, len(starts))
		var wg sync.WaitGroup
		for i := range starts {
			known[starts[i].Path] = true
			wg.Go(func() {
				round[i] = begin()
				round[i].start(starts[i])
				round[i].walk()
				round[i].checkCopies()
			})
		}
		wg.Wait()
		all, starts = append(all, round...), nil
		for _, w := range round {
			for _, r := range w.startedElsewhere() {
				if follow && !known[r.Path] && len(all)+len(starts) < mostRemote {
					known[r.Path] = true
					starts = append(starts, r)
				}
			}
		}
	}
	return all
}

// startedElsewhere returns the roots of other clusters that the cluster starts: Kustomizations from the repository itself
// that it applies there through spec.kubeConfig.
func (w *walker) startedElsewhere() []roots.Root {
	var found []roots.Root
	for _, k := range w.cluster.Kustomizations {
		if k.Spec.KubeConfig == nil {
			continue
		}
		for _, o := range k.Objects {
			spec, wrong := builds.SpecOf(o.Value)
			if !o.isKustomization() || wrong != "" || spec.KubeConfig != nil || strings.Contains(spec.Path, "${") {
				continue
			}
			r := roots.Root{Path: repository.Clean(spec.Path), Base: ".", Place: o.Place, Namespace: o.Namespace, Name: o.Name, Spec: spec}
			r.Source = roots.Source{Kind: spec.SourceRef.Kind, Namespace: cmp.Or(spec.SourceRef.Namespace, o.Namespace), Name: spec.SourceRef.Name}
			if roots.Has(w.own.Repo, r.Path) && w.isOwn(r.Source, k) {
				found = append(found, r)
			}
		}
	}
	return found
}

// isOwn reports whether a source that a Kustomization applies to another cluster has the address of the repository
// itself, as the root or a file beside it defines it.
func (w *walker) isOwn(source roots.Source, k *Kustomization) bool {
	root := w.cluster.Root
	own := map[string]bool{roots.RepositoryAddress(root.URL): root.URL != ""}
	for _, o := range w.own.Repo.Find(fluxapi.SourceGroup, root.Source.Kind, root.Source.Namespace, root.Source.Name) {
		if url, _ := o.Text("spec", "url"); url != "" && path.Dir(o.File()) == path.Dir(root.File) {
			own[roots.RepositoryAddress(url)] = true
		}
	}
	return slices.ContainsFunc(k.Objects, func(o *Object) bool {
		url, _, _ := unstructured.NestedString(o.Value, "spec", "url")
		return o.Identity == Identity{fluxapi.SourceGroup, source.Kind, source.Namespace, source.Name} && own[roots.RepositoryAddress(url)]
	})
}
