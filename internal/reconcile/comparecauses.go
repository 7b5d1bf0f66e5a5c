package reconcile

import (
	"cmp"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Unbuilt is a Kustomization or HelmRelease whose objects are not known in one of two states of
// a cluster, or in both: they are left out of what differs. Where Flux cannot build it, what it
// applied before stays.
type Unbuilt struct {
	Kind, Namespace, Name string
	// From and To are why; nil where the objects are known, and in a state that lacks it.
	From, To *Cause
}

// Cause is why objects are not known.
type Cause struct {
	// Failed says that Flux cannot build or install them; otherwise they cannot be known
	// offline.
	Failed bool
	// Place is that of what is to be fixed, or is not known.
	finding.Place
	Message string
}

// String gives kind namespace/name.
func (u Unbuilt) String() string { return u.Kind + " " + u.Namespace + "/" + u.Name }

// Breaks says whether the objects can be built in the first state or are not there, and not in
// the second; Mends is the other way round.
func (u Unbuilt) Breaks() bool { return u.To != nil && u.To.Failed && u.From == nil }

// Mends says whether the second state can be built and the first cannot, or lacks it.
func (u Unbuilt) Mends() bool { return u.From != nil && u.From.Failed && u.To == nil }

// maker names what applies objects.
type maker struct{ kind, namespace, name string }

func makerOf(r *Object) maker { return maker{r.Kind, r.Namespace, r.Name} }

// causes are why the objects of a cluster's Kustomizations and HelmReleases are not known.
func causes(c *Cluster) map[maker]*Cause {
	all := map[maker]*Cause{}
	if c == nil {
		return all
	}
	for _, k := range c.Kustomizations {
		if cause := k.cause(); cause != nil {
			all[maker{kindKs, k.Namespace, k.Name}] = cause
		}
	}
	for _, r := range c.Releases {
		if cause := r.Cause(); cause != nil {
			all[makerOf(r.Object)] = cause
		}
	}
	return all
}

// cause is why nothing of a Kustomization is known, nil where something is.
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

// Cause returns why nothing of a release is known, nil where its objects are.
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

// hiding says of the objects of two states which of them are left out.
type hiding struct {
	from, to map[maker]*Cause
	// seen are what hides an object that is known in one state.
	seen map[maker]bool
}

func newHiding(from, to *Cluster) *hiding {
	return &hiding{causes(from), causes(to), map[maker]bool{}}
}

// hides says whether an object's being there tells nothing: what applies it, or leads to what
// does, is not known in one of the states given.
func (h *hiding) hides(o *Object, states ...map[maker]*Cause) bool {
	hidden := false
	look := func(m maker) {
		for _, state := range states {
			if state[m] != nil {
				h.seen[m], hidden = true, true
			}
		}
	}
	if o.HelmRelease != nil {
		look(makerOf(o.HelmRelease))
	}
	for k := o.Kustomization; k != nil; k = k.Parent {
		look(maker{kindKs, k.Namespace, k.Name})
	}
	return hidden
}

// KnownInBoth says of an object of one of two states of a cluster whether the other state, too, tells whether it is
// there: nothing that applies it is unknown in one of them. A state may be nil.
func KnownInBoth(from, to *Cluster) func(o *Object) bool {
	h := newHiding(from, to)
	return func(o *Object) bool { return !h.hides(o, h.from, h.to) }
}

// unbuilt are what Flux cannot build in one of the states, and what hides objects.
func (h *hiding) unbuilt() []Unbuilt {
	var all []Unbuilt
	add := func(m maker) {
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
