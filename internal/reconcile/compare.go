package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// ClusterDiff is what differs between two states of a cluster. A cluster that is in one state
// only has all its objects added or removed, or kept where its folder is gone.
type ClusterDiff struct {
	Name    string
	Added   []*Object
	Removed []*Object
	// Kept are those that the second state lacks, and that Flux leaves on the cluster.
	Kept    []KeptObject
	Changed []ObjectDiff
	// Unbuilt are the Kustomizations and HelmReleases that fail in one of the states, or whose
	// objects are known in one only.
	Unbuilt []Unbuilt
	// Incomplete says that not all objects are known in one of the states.
	Incomplete bool
}

// Empty says whether nothing differs: neither an object, nor what Flux can build.
func (d ClusterDiff) Empty() bool {
	return len(d.Added)+len(d.Removed)+len(d.Kept)+len(d.Changed) == 0 &&
		!slices.ContainsFunc(d.Unbuilt, func(u Unbuilt) bool { return u.Breaks() || u.Mends() })
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
	// From and To are the values, nil where there is none. Values of Secrets and what looks like a secret are masked:
	// what was masked is a Masked.
	From, To any
}

// Masked stands for a secret value.
type Masked string

const (
	masked    Masked = finding.Hidden
	encrypted Masked = "<encrypted>"
)

// Compare tells what the second state of the clusters changes, cluster by cluster in the
// order of their names; clusters without a difference are left out, unless something of them
// cannot be built.
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

// lacking says why Flux deletes nothing on a cluster of the fleet whose folder a later state of the repository no
// longer has, "" where it has it: kustomize-controller v1.9 fails before it prunes ("kustomization path not found").
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

// has says whether the repository has a folder with files.
func (f *Fleet) has(dir string) bool {
	_, there := f.repo.ReadDir(dir)
	return there
}

// compareClusters compares two states of a cluster; keeps is why all stays that the second one lacks.
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
		if fields := compareValues(secretOf(old, o), nil, old.Value, o.Value); len(fields) > 0 {
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

// gone are the objects of the first state that the second lacks, sorted: those that Flux deletes, and
// those that it keeps. keeps is why it keeps all of them.
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

// Deleted are the objects of a cluster that Flux deletes where the later state of it no longer applies
// them, in the order of [Compare]. Those of what isn't known in one of the states are left out.
func Deleted(from, to *Cluster) []*Object {
	removed, _ := newHiding(from, to).gone(byIdentity(from), byIdentity(to), to, "")
	return removed
}

// byIdentity takes the last of several objects of an identity, as the cluster would in the
// end.
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

// secretOf says how values at a path of an object are shown that is so before and after.
func secretOf(before, o *Object) func(path []any, value any) any {
	inSecret := func(path []any) bool {
		return (o.Group == "" || o.Group == "core") && strings.EqualFold(o.Kind, "Secret") && len(path) > 0 && (!ofSecret[path[0]] || path[0] == "type" && len(path) > 1)
	}
	return func(path []any, value any) any {
		text, isText := value.(string)
		switch {
		case isText && strings.HasPrefix(text, "ENC["):
			return encrypted
		case value != nil && inSecret(path):
			return masked
		case isText && namesObject(o, path, text):
			return value
		case isText && (hides(before.Value, path, text) || hides(o.Value, path, text)):
			return masked
		}
		return value
	}
}

// ofSecret are the fields of a Secret that hold none of its values, beside its type.
var ofSecret = map[any]bool{"apiVersion": true, "kind": true, "metadata": true, "type": true, "immutable": true}

// hides says whether a text at a path of an object is kept out of what is shown: by the name of
// its field, of the variable whose value it is or of the flag before it, as a value of a Secret
// within the object, or as a text that holds one.
func hides(object any, path []any, text string) bool {
	if repository.HoldsSecrets(text) {
		return true
	}
	field, several, of := "", "", object
	for i, at := range path {
		var next any
		switch at := at.(type) {
		case string:
			fields, _ := of.(map[string]any)
			next, several, field = fields[at], credential.Several(field), at
			if name, _ := fields["name"].(string); at == "value" && name != "" {
				field = name // of a container's environment
			}
			kind, _ := fields["kind"].(string)
			if i > 0 && (at == "stringData" || at == "data" && strings.EqualFold(kind, "Secret")) || at == "literals" && strings.EqualFold(kind, "SecretGenerator") {
				return true
			}
		case int:
			items, _ := of.([]any)
			if at < len(items) {
				next = items[at]
			}
			if at > 0 && at <= len(items) {
				if flag, _ := items[at-1].(string); strings.HasPrefix(flag, "-") && !strings.Contains(flag, "=") {
					field = strings.TrimLeft(flag, "-")
				}
			}
		}
		of = next
	}
	return credential.Hide(field, text) || several != "" && credential.HideLine(field+"-"+several, text)
}

// compareValues lists the fields that differ, in the order of their paths.
func compareValues(show func([]any, any) any, path []any, from, to any) []FieldDiff {
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
		names := slices.Sorted(maps.Keys(a))
		for name := range b {
			if _, known := a[name]; !known {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			fields = append(fields, compareValues(show, append(slices.Clone(path), name), a[name], b[name])...)
		}
		return fields
	case []any:
		b, ok := to.([]any)
		if !ok || len(a) != len(b) {
			break
		}
		for i := range a {
			fields = append(fields, compareValues(show, append(slices.Clone(path), i), a[i], b[i])...)
		}
		return fields
	}
	return []FieldDiff{{Path: path, From: maskAll(show, path, from), To: maskAll(show, path, to)}}
}

// maskAll masks a value and, where it is a map or a list, all in it.
func maskAll(show func([]any, any) any, path []any, value any) any {
	switch v := value.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, item := range v {
			m[name] = maskAll(show, append(slices.Clone(path), name), item)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = maskAll(show, append(slices.Clone(path), i), item)
		}
		return list
	}
	return show(path, value)
}
