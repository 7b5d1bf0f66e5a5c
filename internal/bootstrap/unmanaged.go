package bootstrap

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// mostApplied is the maximum number of files that are read of a folder that a hook applies.
const mostApplied = 200

// objectsAt returns the objects in the file or folder that a hook applies; none of a folder whose kustomization renames or
// generates objects.
func objectsAt(repo *repository.Repository, at string) []*repository.Object {
	seen := map[string]bool{}
	var all []*repository.Object
	var add func(at string) bool
	add = func(at string) bool {
		if seen[at] || len(seen) == mostApplied {
			return true
		}
		seen[at] = true
		if f, ok := repo.File(at); ok {
			for _, d := range f.Documents {
				all = append(all, d.Objects...)
			}
			return true
		}
		k, ok := repo.KustomizeAt(at)
		if !ok {
			names, _ := repo.ReadDir(at)
			for _, name := range names {
				if slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) {
					add(path.Join(at, name))
				}
			}
			return true
		}
		if s := k.Spec; s == nil || s.NamePrefix+s.NameSuffix != "" || len(s.Generators)+len(s.Transformers)+len(s.Replacements) > 0 {
			return false
		}
		for _, ref := range slices.Concat(k.Spec.Resources, k.Spec.Components) {
			if below, ok := repository.Join(at, ref); ok && !add(below) {
				return false
			}
		}
		return true
	}
	if !add(at) {
		return nil
	}
	return all
}

// belongsInGit reports whether Flux should apply an object that a hook applies. Secrets, namespaces, definitions and the
// objects that start Flux are created once, or by others.
func belongsInGit(o *repository.Object) bool {
	switch o.Kind {
	case "Secret", "Namespace", "CustomResourceDefinition", "":
		return false
	}
	return o.Name != "" && !strings.ContainsAny(o.Name, "${}") && !strings.HasSuffix(o.Group(), ".toolkit.fluxcd.io") && o.Group() != fluxapi.OperatorGroup
}

// unmanaged reports objects that a hook applies and that Flux does not apply, so that later changes in Git have no effect.
func (o *ordering) unmanaged(r *helmfile.Release, t located.Text) {
	if len(o.Fleet.Clusters) == 0 {
		return
	}
	missing := slices.DeleteFunc(objectsAt(o.Repo, t.Value), func(object *repository.Object) bool { return !belongsInGit(object) || o.applied(object) })
	if len(missing) == 0 {
		return
	}
	p := OrderProblem{Rule: RuleObjectMissing, File: t.File, Line: t.Line, Cluster: r.Cluster, Release: r.Name.Known()}
	p.Message = fmt.Sprintf("a hook of release %q applies %s, which Flux does not apply", r.Name.Known(), missing[0])
	if n := len(missing) - 1; n > 0 {
		p.Message += fmt.Sprintf(" (and %d more of %s)", n, t.Value)
	}
	p.Hint = fmt.Sprintf("list %s in a kustomization that Flux applies, or remove it from the hook", missing[0].File())
	if why := o.git.open; why != "" {
		p.Message, p.Hint, p.Unresolved = fmt.Sprintf("whether Flux applies %s, which a hook of release %q applies, is not known: %s", missing[0], r.Name.Known(), why), "", true
	}
	o.problems = append(o.problems, p)
}

// gitObjects are the objects that Flux applies.
type gitObjects struct {
	// names holds their groups, kinds and names; an unknown name is "".
	names map[[3]string]bool
	// open is the reason why some are unknown, "" if all are known.
	open string
}

// applied reports whether Flux applies an object, or may.
func (s *orders) applied(object *repository.Object) bool {
	has := func(clusters []*reconcile.Cluster) bool {
		return slices.ContainsFunc(clusters, func(c *reconcile.Cluster) bool {
			return slices.ContainsFunc(c.Objects(), func(o *reconcile.Object) bool { return o.Source == object })
		})
	}
	if s.git == nil && has(s.Fleet.Clusters) {
		return true
	}
	if s.git == nil {
		s.git = newGitObjects(s.Fleet.Clusters)
	}
	id := [3]string{object.Group(), object.Kind, object.Name}
	if s.git.names[id] || s.git.names[[3]string{id[0], id[1], ""}] {
		return true
	}
	// Another cluster may apply its folder; a chart that is not available locally or a ResourceSet may contain it in its values.
	for _, k := range s.Fleet.Unreached {
		at, _ := k.Text("spec", "path")
		if dir := repository.Clean(at); dir == "." || strings.HasPrefix(object.File(), dir+"/") {
			return true
		}
	}
	for _, list := range [][]*repository.Object{s.Repo.ByKind(fluxapi.HelmGroup, "HelmRelease"), s.Repo.ByKind(fluxapi.OperatorGroup, "ResourceSet")} {
		if slices.ContainsFunc(list, func(o *repository.Object) bool {
			return o.Document != object.Document && o.Document.Mentions(object.Kind)
		}) {
			return true
		}
	}
	return false
}

func newGitObjects(clusters []*reconcile.Cluster) *gitObjects {
	g := &gitObjects{names: map[[3]string]bool{}}
	if len(clusters) == 0 {
		g.open = "what Flux applies could not be computed"
	}
	for _, c := range clusters {
		for _, o := range c.Objects() {
			name := o.Name
			if strings.Contains(name, "$") {
				name = ""
			}
			g.names[[3]string{o.Group, o.Kind, name}] = true
		}
		for _, k := range c.Kustomizations {
			switch {
			case g.open != "":
			case k.Failure != nil:
				g.open = fmt.Sprintf("Kustomization %s cannot be built: %s", k, k.Failure.Message)
			case len(k.Gaps) > 0:
				g.open = fmt.Sprintf("Kustomization %s could not be fully built: %s", k, k.Gaps[0].Message)
			}
		}
		for _, set := range c.OpenSets {
			if g.open == "" {
				g.open = fmt.Sprintf("not all that %s creates is known: %s", set.Object, set.Because)
			}
		}
	}
	return g
}
