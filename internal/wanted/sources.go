package wanted

import (
	"cmp"

	"github.com/fleetwright/fleetwright/internal/cache"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/lock"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Source is a source of files that clusters use.
type Source struct {
	Ask chartref.Source
	// Locked is the entry in the lock, nil if there is none; Cached is set if the cache contains it.
	Locked *lock.Source
	Cached bool
	// By are the objects that use the source.
	By []User
	// Keys and Unverifiable are like those of a Chart.
	Keys, Unverifiable []string
}

// User is an object that uses a source of files: a GitRepository or OCIRepository of a cluster, or a kustomization.
type User struct {
	Cluster, Object, File string
	Line                  int
	// Field is the field of a kustomization with an entry that kustomize would fetch, "" if the object is a source.
	Field string
	// Reason is why it cannot be fetched.
	Reason string
}

// takeSources adds the sources that a cluster uses.
func (g *gathering) takeSources(c *reconcile.Cluster, chosen bool) {
	for _, s := range c.Sources {
		user := User{Cluster: c.Name, Object: s.Object.String(), File: s.Object.File, Line: s.Object.Line, Reason: s.Unfetchable}
		g.takeSource(s.Ask, user, chosen && !s.Mapped)
		if s.Ask != nil && chosen && !s.Mapped {
			g.verifySources[*s.Ask] = append(g.verifySources[*s.Ask], s.Verify)
		}
	}
	for _, k := range c.Kustomizations {
		for _, r := range k.Remotes {
			user := User{Cluster: c.Name, Object: "Kustomization " + k.String(), File: r.File, Line: r.Line, Field: r.Field, Reason: r.Unfetchable}
			if ask := &r.Ask; r.Unfetchable == "" {
				g.takeSource(ask, user, chosen)
			} else {
				g.takeSource(nil, user, chosen)
			}
		}
	}
}

// takeSource records a use of a source. If ask is nil, the source cannot be fetched.
func (g *gathering) takeSource(ask *chartref.Source, by User, chosen bool) {
	if ask != nil {
		g.asked[*ask] = true
	}
	switch {
	case !chosen:
	case ask != nil:
		g.users[*ask] = append(g.users[*ask], by)
	default:
		g.report.Unavailable = append(g.report.Unavailable, by)
	}
}

// finishSources adds the recorded sources to the report, with their entries in the lock and the cache.
func (g *gathering) finishSources(known *lock.Lock, in *cache.Cache) {
	r := g.report
	for ask, users := range g.users {
		one := Source{Ask: ask, By: users}
		one.Keys, one.Unverifiable = verifications(g.verifySources[ask])
		if entry, found := known.FindSource(ask); found {
			_, err := in.Read(entry.SHA256)
			one.Locked, one.Cached = &entry, err == nil
		}
		sorting.Func(one.By, compareUsers)
		r.Sources = append(r.Sources, one)
	}
	sorting.Func(r.Sources, func(a, b Source) int { return chartref.CompareSources(a.Ask, b.Ask) })
	sorting.Func(r.Unavailable, compareUsers)
	for _, entry := range known.Sources {
		if !g.asked[entry.Source] {
			r.StaleSources = append(r.StaleSources, entry)
		}
	}
}

func compareUsers(a, b User) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Object, b.Object), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Reason, b.Reason))
}
