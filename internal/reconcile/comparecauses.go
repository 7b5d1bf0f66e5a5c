package reconcile

import (
	"cmp"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Unbuilt is a Kustomization or HelmRelease whose objects are unknown in at least one of two states of a cluster, and
// thus left out of the difference. If Flux cannot build it, what it applied before remains.
type Unbuilt struct {
	Kind, Namespace, Name string
	// From and To are the causes; nil if the objects are known, and in a state that lacks it.
	From, To *Cause
}

// Cause is why objects are unknown.
type Cause struct {
	// Failed reports whether Flux cannot build or install them; otherwise they cannot be known offline.
	Failed bool
	// Place is the position of the text to fix, or of the unknown part.
	finding.Place
	Message string
}

// String returns kind namespace/name.
func (u Unbuilt) String() string { return u.Kind + " " + u.Namespace + "/" + u.Name }

// Breaks reports whether the second state cannot be built, and the first can or lacks it.
func (u Unbuilt) Breaks() bool { return u.To != nil && u.To.Failed && u.From == nil }

// Fixes reports whether the first state cannot be built, and the second can or lacks it.
func (u Unbuilt) Fixes() bool { return u.From != nil && u.From.Failed && u.To == nil }

// applier names a Kustomization or HelmRelease, which applies objects.
type applier struct{ kind, namespace, name string }

func applierOf(r *Object) applier { return applier{r.Kind, r.Namespace, r.Name} }

// causes returns why the objects of a cluster's Kustomizations and HelmReleases are unknown.
func causes(c *Cluster) map[applier]*Cause {
	all := map[applier]*Cause{}
	if c == nil {
		return all
	}
	for _, k := range c.Kustomizations {
		if cause := k.cause(); cause != nil {
			all[applier{kindKs, k.Namespace, k.Name}] = cause
		}
	}
	for _, r := range c.Releases {
		if cause := r.Cause(); cause != nil {
			all[applierOf(r.Object)] = cause
		}
	}
	return all
}

// cause returns why no object of a Kustomization is known, nil if one is.
func (k *Kustomization) cause() *Cause {
	if f := k.Failure; f != nil {
		return &Cause{true, f.Place, f.Message}
	}
	if len(k.Gaps) > 0 && len(k.Objects) == 0 {
		g := k.Gaps[0]
		return &Cause{false, g.Place, g.Message}
	}
	return nil
}

// Cause returns why the objects of a release are unknown, nil if they are known.
func (release *Release) Cause() *Cause {
	o := release.Object
	cause := &Cause{Place: o.Place}
	switch {
	case release.Failure != nil:
		cause.Failed, cause.Message = true, release.Failure.String()
	case len(release.Problems) > 0:
		p := release.Problems[0]
		cause.Failed, cause.Message = true, p.Message
		cause.Place = release.ValuePosition(p.Path...)
	case release.Unknown != "":
		cause.Message = release.Unknown
	case release.Chart == "":
		cause.Message = "its chart is not available locally"
	default:
		return nil
	}
	return cause
}

// hiding decides which objects are left out of a comparison of two states.
type hiding struct {
	from, to map[applier]*Cause
	// seen are the appliers because of which objects that are known in one state were left out.
	seen map[applier]bool
}

func newHiding(from, to *Cluster) *hiding {
	return &hiding{causes(from), causes(to), map[applier]bool{}}
}

// hides reports whether an object must be left out of the comparison: its Kustomization or HelmRelease, or an ancestor,
// is unknown in one of the states.
func (h *hiding) hides(o *Object, states ...map[applier]*Cause) bool {
	hidden := false
	look := func(m applier) {
		for _, state := range states {
			if state[m] != nil {
				h.seen[m], hidden = true, true
			}
		}
	}
	if o.HelmRelease != nil {
		look(applierOf(o.HelmRelease))
	}
	for k := o.Kustomization; k != nil; k = k.Parent {
		look(applier{kindKs, k.Namespace, k.Name})
	}
	return hidden
}

// KnownInBoth returns a function that reports whether an object of one of two states of a cluster is known to exist or
// not in the other state, too: its appliers are known in both. A state may be nil.
func KnownInBoth(from, to *Cluster) func(o *Object) bool {
	h := newHiding(from, to)
	return func(o *Object) bool { return !h.hides(o, h.from, h.to) }
}

// unbuilt returns the appliers that Flux cannot build in one of the states, and those because of which objects were left
// out.
func (h *hiding) unbuilt() []Unbuilt {
	var all []Unbuilt
	add := func(m applier) {
		u := Unbuilt{Kind: m.kind, Namespace: m.namespace, Name: m.name, From: h.from[m], To: h.to[m]}
		if h.seen[m] || u.From != nil && u.From.Failed || u.To != nil && u.To.Failed {
			all = append(all, u)
		}
	}
	for m := range h.to {
		add(m)
	}
	for m := range h.from {
		if h.to[m] == nil {
			add(m)
		}
	}
	sorting.Func(all, func(a, b Unbuilt) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return all
}
