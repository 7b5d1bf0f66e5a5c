package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// ClusterDiff is the difference between two states of a cluster. A cluster in only one state has all its objects added or
// removed, or kept if its folder no longer exists.
type ClusterDiff struct {
	Name    string
	Added   []*Object
	Removed []*Object
	// Kept are the objects that the second state lacks and that Flux leaves on the cluster.
	Kept    []KeptObject
	Changed []ObjectDiff
	// Unbuilt are the Kustomizations and HelmReleases that fail in one of the states, or whose
	// objects are known in only one of them.
	Unbuilt []Unbuilt
	// Incomplete reports whether some objects of one of the states are unknown.
	Incomplete bool
}

// Empty reports whether nothing differs, neither an object nor what Flux can build.
func (d ClusterDiff) Empty() bool {
	return len(d.Added)+len(d.Removed)+len(d.Kept)+len(d.Changed) == 0 &&
		!slices.ContainsFunc(d.Unbuilt, func(u Unbuilt) bool { return u.Breaks() || u.Fixes() })
}

// KeptObject is an object of the first state, and why it stays.
type KeptObject struct {
	*Object
	Why string
}

// ObjectDiff is an object that is in both states and differs.
type ObjectDiff struct {
	From, To *Object
	Fields   []FieldDiff
}

// FieldDiff is a field that differs.
type FieldDiff struct {
	// Path of field names (string) and list indexes (int).
	Path []any
	// From and To are the values, nil if there is none. Values of Secrets and strings that look like secrets are masked:
	// they are of type mask.Masked.
	From, To any
}

// Compare returns what the second state of the clusters changes, sorted by cluster; clusters without a difference are
// left out, unless a part of them cannot be built.
func Compare(from, to *Fleet) []ClusterDiff {
	names := map[string][2]*Cluster{}
	for _, c := range from.Clusters {
		names[c.Name] = [2]*Cluster{c, nil}
	}
	for _, c := range to.Clusters {
		names[c.Name] = [2]*Cluster{names[c.Name][0], c}
	}
	var all []ClusterDiff
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if d := compareClusters(name, names[name][0], names[name][1], from.lacking(names[name][0], to)); !d.Empty() || len(d.Unbuilt) > 0 {
			all = append(all, d)
		}
	}
	return all
}

// lacking returns why Flux deletes nothing on a cluster whose folder a later state of the repository no longer has, "" if
// it has it: kustomize-controller v1.9 fails before it prunes ("kustomization path not found").
func (f *Fleet) lacking(c *Cluster, later *Fleet) string {
	if c == nil || len(c.Kustomizations) == 0 || later.repo == nil || later.repo.Partial() {
		return ""
	}
	root := c.Kustomizations[0]
	if root.Repo == nil || root.Repo != f.repo || later.has(root.Dir) {
		return ""
	}
	return fmt.Sprintf("the path ./%s of Kustomization %s no longer exists, so that Flux fails there and deletes nothing", root.Dir, root)
}

// has reports whether the repository has a folder with files.
func (f *Fleet) has(dir string) bool {
	_, there := f.repo.ReadDir(dir)
	return there
}

// compareClusters compares two states of a cluster; keeps is why Flux keeps every object that the second state lacks, ""
// if it does not.
func compareClusters(name string, from, to *Cluster, keeps string) ClusterDiff {
	d := ClusterDiff{Name: name}
	before, after := byIdentity(from), byIdentity(to)
	h := newHiding(from, to)
	for id, o := range after {
		old, known := before[id]
		if !known {
			if !h.hides(o, h.from, h.to) {
				d.Added = append(d.Added, o)
			}
			continue
		}
		if h.hides(old, h.from) || h.hides(o, h.to) {
			continue
		}
		if fields := compareValues(old, o); len(fields) > 0 {
			d.Changed = append(d.Changed, ObjectDiff{From: old, To: o, Fields: fields})
		}
	}
	d.Removed, d.Kept = h.gone(before, after, to, keeps)
	for _, c := range []*Cluster{from, to} {
		d.Incomplete = d.Incomplete || c != nil && (!c.Complete() || slices.ContainsFunc(c.Releases, (*Release).failed))
	}
	d.Unbuilt = h.unbuilt()
	sorting.Func(d.Added, compareObjects)
	sorting.Func(d.Changed, func(a, b ObjectDiff) int { return compareObjects(a.To, b.To) })
	return d
}

// gone returns the objects of the first state that the second lacks, sorted: the objects that Flux deletes, and those
// that it keeps. keeps is why it keeps all of them.
func (h *hiding) gone(before, after map[Identity]*Object, to *Cluster, keeps string) (removed []*Object, kept []KeptObject) {
	for id, o := range before {
		if _, applied := after[id]; applied || h.hides(o, h.from, h.to) {
			continue
		}
		if why := cmp.Or(keeps, o.Kept(to)); why != "" {
			kept = append(kept, KeptObject{o, why})
		} else {
			removed = append(removed, o)
		}
	}
	sorting.Func(removed, compareObjects)
	sorting.Func(kept, func(a, b KeptObject) int { return compareObjects(a.Object, b.Object) })
	return removed, kept
}

// Deleted returns the objects of a cluster that Flux deletes if the later state no longer applies them, in the order of
// [Compare]. Objects that are unknown in one of the states are left out.
func Deleted(from, to *Cluster) []*Object {
	removed, _ := newHiding(from, to).gone(byIdentity(from), byIdentity(to), to, "")
	return removed
}

// byIdentity returns the last object of each identity, the one that remains on the cluster.
func byIdentity(c *Cluster) map[Identity]*Object {
	all := map[Identity]*Object{}
	if c != nil {
		for _, o := range c.Objects() {
			all[o.Identity] = o
		}
	}
	return all
}

func compareObjects(a, b *Object) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// compareValues returns the fields of an object that changed, in the order of their paths.
func compareValues(was, o *Object) []FieldDiff {
	if reflect.DeepEqual(was.Value, o.Value) {
		return nil
	}
	return o.compare(nil, was.Value, o.Value, mask.Value("", was.Value), mask.Value("", o.Value))
}

// compare returns the fields at or below a path that differ between two values; shownFrom and shownTo are the masked
// values to show.
func (o *Object) compare(path []any, from, to, shownFrom, shownTo any) []FieldDiff {
	if reflect.DeepEqual(from, to) {
		return nil
	}
	var fields []FieldDiff
	switch a := from.(type) {
	case map[string]any:
		b, ok := to.(map[string]any)
		if !ok {
			break
		}
		names := maps.Clone(a)
		maps.Copy(names, b)
		shownA, shownB := shownFrom.(map[string]any), shownTo.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			fields = append(fields, o.compare(append(slices.Clone(path), name), a[name], b[name], shownA[name], shownB[name])...)
		}
		return fields
	case []any:
		b, ok := to.([]any)
		if !ok || len(a) != len(b) {
			break
		}
		for i := range a {
			fields = append(fields, o.compare(append(slices.Clone(path), i), a[i], b[i], shownFrom.([]any)[i], shownTo.([]any)[i])...)
		}
		return fields
	}
	return []FieldDiff{{Path: path, From: o.shown(path, from, shownFrom), To: o.shown(path, to, shownTo)}}
}

// shown returns the value to show for a path: the masked one, except for the names of other objects in it.
func (o *Object) shown(path []any, value, shown any) any {
	switch value := value.(type) {
	case string:
		if namesObject(o, path, value) {
			return value
		}
	case map[string]any:
		for name, item := range value {
			shown.(map[string]any)[name] = o.shown(append(slices.Clone(path), name), item, shown.(map[string]any)[name])
		}
	case []any:
		for i, item := range value {
			shown.([]any)[i] = o.shown(append(slices.Clone(path), i), item, shown.([]any)[i])
		}
	}
	return shown
}
