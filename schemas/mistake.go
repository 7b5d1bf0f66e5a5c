package schemas

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/nearest"
)

// Mistake is an error in an object's apiVersion or kind: a group, version or kind of Kubernetes or
// Flux that exists in no release. All of them are known.
type Mistake struct {
	// Field is the field to fix: apiVersion or kind.
	Field string
	// Message describes the mistake, and Hint the kind or version that was probably intended.
	Message, Hint string
	// Intended is the kind that was probably intended; empty if none is similar.
	Intended schema.GroupVersionKind
	// Newer is set if a release newer than the known ones may have the kind: its version follows the known ones, or no
	// kind of its group is similar.
	Newer bool
}

// MistakeOf returns the mistake in a kind, nil if there is none.
func MistakeOf(gvk schema.GroupVersionKind) *Mistake {
	_, err := NewSet().Lookup(gvk)
	if missing := (*MissingError)(nil); errors.As(err, &missing) {
		return missing.Mistake
	}
	return nil
}

// mistake returns the mistake in a kind for which neither the set nor a release has a schema; nil if an unavailable
// CustomResourceDefinition may define it.
func (s *Set) mistake(gvk schema.GroupVersionKind) *Mistake {
	if all := Versions(gvk.GroupKind()); len(all) > 0 {
		return wrongVersion(gvk, all)
	}
	ours := isComplete(gvk.Group)
	if len(s.Versions(gvk.GroupKind())) > 0 || !ours && s.hasGroup(gvk.Group) {
		return nil
	}
	if intended := misspelt(gvk); intended != "" {
		return &Mistake{
			Field: "kind", Message: fmt.Sprintf("kind %q does not exist in %s", gvk.Kind, gvk.GroupVersion()),
			Hint: fmt.Sprintf("did you mean %q?", intended), Intended: schema.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: intended},
		}
	}
	if intended, ok := otherGroup(gvk, ours); ok {
		return &Mistake{
			Field: "apiVersion", Message: fmt.Sprintf("%s does not exist in %s", gvk.Kind, gvk.GroupVersion()),
			Hint: fmt.Sprintf("did you mean %q?", intended.GroupVersion()), Intended: intended,
		}
	}
	if ours && Product(gvk.Group) != kubernetes {
		return noKind(gvk)
	}
	return nil
}

// noKind returns the mistake in a kind that is not similar to any kind in a group of Flux.
func noKind(gvk schema.GroupVersionKind) *Mistake {
	var kinds []string
	for of := range versions() {
		if of.Group == gvk.Group {
			kinds = append(kinds, of.Kind)
		}
	}
	slices.Sort(kinds)
	return &Mistake{
		Field: "kind", Message: fmt.Sprintf("no known release of %s has a kind %q in %s", Product(gvk.Group), gvk.Kind, gvk.Group),
		Hint: fmt.Sprintf("its kinds are %s, unless the cluster runs a newer release that has more", strings.Join(kinds, ", ")), Newer: true,
	}
}

// isComplete reports whether all kinds and versions of a group are known: it belongs to Flux, the Flux
// Operator, or Kubernetes itself.
func isComplete(group string) bool {
	return hasGroup(versions(), group) &&
		(Product(group) != kubernetes || !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io"))
}

// hasGroup reports whether the set has definitions of kinds in a group.
func (s *Set) hasGroup(group string) bool {
	return hasGroup(s.definitions, group) ||
		slices.ContainsFunc(s.folders, func(f *Folder) bool { return hasGroup(f.index().definitions, group) })
}

func hasGroup[T any](kinds map[schema.GroupKind]T, group string) bool {
	for of := range kinds {
		if of.Group == group {
			return true
		}
	}
	return false
}

// alpha matches versions that appear and disappear with the releases of Kubernetes.
var alpha = regexp.MustCompile(`^v\d+alpha\d+$`)

// wrongVersion returns the mistake in a version of a known kind that no release has; nil for a version that a release
// has, had, or may have had.
func wrongVersion(gvk schema.GroupVersionKind, all []Version) *Mistake {
	if slices.ContainsFunc(all, func(v Version) bool { return v.Name == gvk.Version }) || !isComplete(gvk.Group) ||
		Product(gvk.Group) == kubernetes && alpha.MatchString(gvk.Version) {
		return nil
	}
	intended := current(gvk.GroupKind(), all)
	m := &Mistake{
		Field: "apiVersion", Message: fmt.Sprintf("no known release of %s has %s of %s", Product(gvk.Group), gvk.GroupVersion(), gvk.Kind),
		Hint: fmt.Sprintf("write %s", intended.GroupVersion()), Intended: intended,
	}
	served := slices.IndexFunc(all, func(v Version) bool { return v.Served })
	if m.Newer = served >= 0 && comesAfter(gvk.Version, all[served].Name); m.Newer {
		m.Hint += ", unless the cluster runs a newer release that has it"
	}
	return m
}

var versionName = regexp.MustCompile(`^v([1-9]\d?)(?:(alpha|beta)([1-9]\d?))?$`)

// comesAfter reports whether a version may be the next one after the newest known version:
// v2, v2alpha1 and v2beta1 after v1; v1beta3 and v1 after v1beta2.
func comesAfter(name, newest string) bool {
	next, last := versionName.FindStringSubmatch(name), versionName.FindStringSubmatch(newest)
	if next == nil || last == nil {
		return false
	}
	number := func(text string) int {
		n, _ := strconv.Atoi(text) // two digits, or none
		return n
	}
	major, stage := number(next[1])-number(last[1]), next[2]
	switch {
	case last[2] == "":
		return major == 1
	case major != 0:
		return false
	case stage == last[2]:
		return number(next[3]) == number(last[3])+1
	}
	return stage == "" || stage == "beta"
}

// current returns the kind with the version to write; all are its known versions, the newest first.
func current(of schema.GroupKind, all []Version) schema.GroupVersionKind {
	served := slices.IndexFunc(all, func(v Version) bool { return v.Served && !v.Deprecated() })
	if served < 0 {
		return cmp.Or(all[0].Replacement, of.WithVersion(all[0].Name))
	}
	return of.WithVersion(all[served].Name)
}

// misspelt returns the known kind of a group of which another kind is a typo or an abbreviation; "" if none is similar
// enough.
func misspelt(gvk schema.GroupVersionKind) string {
	const most = 2 // maximum number of wrong letters
	for _, known := range embedded() {
		if known.Group != gvk.Group || len(known.Kind) <= 3*most {
			continue
		}
		right, wrong := strings.ToLower(known.Kind), strings.ToLower(gvk.Kind)
		if nearest.Distance(right, wrong) <= most || len(wrong) > 3*most && strings.HasPrefix(right, wrong) {
			return known.Kind
		}
	}
	return ""
}

// otherGroup returns the kind of the same name in another group that was probably intended: the group differs in one or
// two letters, the group has no dot, unlike the group of a CustomResourceDefinition, or the group belongs to the same
// product (ours) but has no such kind.
func otherGroup(gvk schema.GroupVersionKind, ours bool) (intended schema.GroupVersionKind, ok bool) {
	least := math.MaxInt
	for of, all := range versions() {
		if of.Kind != gvk.Kind || of.Group == gvk.Group || !isComplete(of.Group) {
			continue
		}
		there := current(of, all)
		if alpha.MatchString(there.Version) {
			continue
		}
		distance := nearest.Distance(gvk.Group, of.Group)
		switch {
		case ours:
			if Product(gvk.Group) != Product(of.Group) {
				continue
			}
		case !strings.Contains(gvk.Group, "."):
			if Product(of.Group) != kubernetes {
				continue
			}
		case distance > 2 || Product(of.Group) == kubernetes && distance > 1 && !swapped(gvk.Group, of.Group):
			continue // scheduling.x-k8s.io is a different group
		}
		if distance < least || distance == least && there.Group < intended.Group {
			least, intended, ok = distance, there, true
		}
	}
	return intended, ok
}

// swapped reports whether two names of the same length differ only in two swapped neighbours.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
