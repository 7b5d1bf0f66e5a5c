package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// CheckSources returns an error for a source passed with --source that matches nothing: no source object in the files of
// the repository or of a source, or among the objects of a cluster, and no reference of a root, Kustomization or
// HelmRelease. The fleets are one repository at one or more revisions. It returns nil if a Kustomization could not be
// built, because its objects are unknown.
func CheckSources(fleets ...*Fleet) error {
	n := &named{sources: map[string]bool{}, helm: map[string]bool{}}
	passed := map[string]bool{}
	for _, f := range fleets {
		if !n.fleet(f) {
			return nil
		}
		for name := range f.mapped {
			passed[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(passed)) {
		if !n.sources[name] {
			return unknownSource(name, slices.Sorted(maps.Keys(n.sources)), n.helm[name])
		}
	}
	return nil
}

// named are the sources and the HelmRepositories that exist or are referenced, as NAMESPACE/NAME.
type named struct{ sources, helm map[string]bool }

func (n *named) add(kind, namespace, name string) {
	switch {
	case namespace == "" || name == "":
	case kind == "HelmRepository":
		n.helm[namespace+"/"+name] = true
	default:
		n.sources[namespace+"/"+name] = true
	}
}

func (n *named) files(repo *repository.Repository) {
	for o := range repo.Objects() {
		if o.Group() == fluxapi.SourceGroup {
			n.add(o.Kind, o.Namespace, o.Name)
		}
	}
}

// fleet adds the sources of a fleet, and reports whether these are all, except behind sources that are not available
// locally.
func (n *named) fleet(f *Fleet) bool {
	if f.repo != nil {
		n.files(f.repo)
	}
	for _, repo := range f.mapped {
		n.files(repo)
	}
	for _, c := range f.Clusters {
		n.add(c.Root.Source.Kind, c.Root.Source.Namespace, c.Root.Source.Name)
		for _, k := range c.Kustomizations {
			if k.Failure != nil || slices.ContainsFunc(k.Gaps, func(g builds.Gap) bool { return g.Kind != builds.OtherSource }) {
				return false
			}
			ref := k.Spec.SourceRef
			n.add(ref.Kind, cmp.Or(ref.Namespace, k.Namespace), ref.Name)
		}
		for _, o := range c.Objects() {
			n.object(o)
		}
	}
	return true
}

func (n *named) object(o *Object) {
	switch {
	case o.Group == fluxapi.SourceGroup:
		n.add(o.Kind, o.Namespace, o.Name)
	case o.Group == fluxapi.HelmGroup && o.Kind == "HelmRelease":
		for _, at := range [][]string{{"spec", "chart", "spec", "sourceRef"}, {"spec", "chartRef"}} {
			ref, _, _ := unstructured.NestedStringMap(o.Value, at...)
			n.add(ref["kind"], cmp.Or(ref["namespace"], o.Namespace), ref["name"])
		}
	}
}

// unknownSource returns the error for a source passed with --source that nothing names.
func unknownSource(name string, known []string, helm bool) error {
	const most = 20
	more := ""
	if n := len(known) - most; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	hint := "the sources are " + strings.Join(known[:min(len(known), most)], ", ") + more
	near, ok := nearest.To(name, known)
	switch {
	case helm:
		hint = "it is a HelmRepository: run fleetwright fetch, or pass --charts DIR with a folder of charts"
	case ok:
		hint = fmt.Sprintf("did you mean %q?", near)
	case len(known) == 0:
		hint = "the repository has no source; its own folder needs none"
	}
	return advice.Input(fmt.Errorf("--source %s: GitRepository, OCIRepository or Bucket %q does not exist, and no object references it", name, name), hint)
}
