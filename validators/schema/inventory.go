package schema

import (
	"cmp"
	"errors"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Kind is a kind of the objects that clusters apply, or of the objects in files if the repository has no cluster.
type Kind struct {
	apischema.GroupVersionKind
	// Objects is the number of objects. An object that several clusters apply from one place counts once.
	Objects int
	// File and Line are the place of the first object.
	File string
	Line int
	// Clusters are the clusters that apply the kind, in their order, with the sources of their schemas.
	Clusters []KindIn
}

// KindIn has the sources of a cluster's schemas of a kind; Cluster is "" if the repository has no cluster.
type KindIn struct {
	Cluster string
	Sources []schemas.Source
	// Missing is the reason why there is no schema, "" if there is one.
	Missing string
}

// Missing returns the reason why a cluster has no schema of the kind, "" if all have one.
func (k Kind) Missing() string {
	for _, in := range k.Clusters {
		if in.Missing != "" {
			return in.Missing
		}
	}
	return ""
}

// refuse records a schema that exceeds a fixed limit, so that the command ends with an error.
func (k *Kind) refuse(err error) {
	if missing := (*schemas.MissingError)(nil); errors.As(err, &missing) && missing.Limit != nil {
		apiVersion, kind := k.ToAPIVersionAndKind()
		bounds.Refuse(bounds.Unit{Kind: "document", File: k.File, Line: k.Line, Name: apiVersion + " " + kind}, missing.Reason)
	}
}

// Inventory returns the kinds of the objects that a pass checks, sorted by group, kind and version.
func Inventory(p *rule.Pass) []Kind {
	set := Kinds.Of(p)
	by, seen := map[apischema.GroupVersionKind]*Kind{}, map[objectIn]bool{}
	add := func(cluster string, o objectIn) {
		gvk := apischema.FromAPIVersionAndKind(o.apiVersion, o.kind)
		k := by[gvk]
		if k == nil {
			k = &Kind{GroupVersionKind: gvk, File: o.file, Line: o.line}
			by[gvk] = k
		}
		if !seen[o] {
			seen[o] = true
			k.Objects++
		}
		if last := len(k.Clusters) - 1; last >= 0 && k.Clusters[last].Cluster == cluster {
			return
		}
		in := KindIn{Cluster: cluster}
		var err error
		if in.Sources, err = set.Sources(cluster, gvk); err != nil {
			in.Missing = schemas.Reason(err)
			k.refuse(err)
		}
		k.Clusters = append(k.Clusters, in)
	}
	for _, c := range p.Clusters() {
		for _, o := range c.Objects() {
			add(c.Name, objectIn{o.APIVersion, o.Kind, o.Namespace, o.Name, o.File, o.Line})
		}
	}
	if len(p.Fleet().Clusters) == 0 {
		r := reached(p.Fleet())
		r.skipExamples(p.Repo)
		r.deployed = platform.Deployed.Of(p)
		for o := range r.objectsInFiles(p.Repo) {
			if !isLocal(o) {
				line, _ := o.Position()
				add("", objectIn{o.APIVersion, o.Kind, o.Namespace, o.Name, o.File(), line})
			}
		}
	}
	all := make([]Kind, 0, len(by))
	for _, k := range by {
		all = append(all, *k)
	}
	sorting.Func(all, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
	})
	return all
}

// objectIn identifies an object by its place, whichever cluster applies it.
type objectIn struct {
	apiVersion, kind, namespace, name, file string
	line                                    int
}
