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

// Mistake is what is wrong about an object's kind, where all there is is known: a group, a version
// or a kind of Kubernetes' or Flux's that no release has.
type Mistake struct {
	// Field is the one to mend: apiVersion or kind.
	Field string
	// Message says what is wrong, Hint what was meant.
	Message, Hint string
	// Meant is the kind that was; empty where none comes near.
	Meant schema.GroupVersionKind
	// Newer says that a newer release than the known ones may have it: the version comes right after
	// those that are known, or the kind is like none of its group.
	Newer bool
}

// MistakeOf is what is wrong about a kind, wherever it stands; nil for nothing.
func MistakeOf(gvk schema.GroupVersionKind) *Mistake {
	_, err := NewSet().Lookup(gvk)
	if missing := (*MissingError)(nil); errors.As(err, &missing) {
		return missing.Mistake
	}
	return nil
}

// mistake is what is wrong with a kind that neither the set nor a release has a schema of; nil
// where a CustomResourceDefinition that is not at hand may serve it.
func (s *Set) mistake(gvk schema.GroupVersionKind) *Mistake {
	if all := Versions(gvk.GroupKind()); len(all) > 0 {
		return wrongVersion(gvk, all)
	}
	ours := isComplete(gvk.Group)
	if len(s.Versions(gvk.GroupKind())) > 0 || !ours && s.hasGroup(gvk.Group) {
		return nil
	}
	if meant := misspelt(gvk); meant != "" {
		return &Mistake{
			Field: "kind", Message: fmt.Sprintf("there is no kind %q in %s", gvk.Kind, gvk.GroupVersion()),
			Hint: fmt.Sprintf("did you mean %q?", meant), Meant: schema.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: meant},
		}
	}
	if meant, ok := otherGroup(gvk, ours); ok {
		return &Mistake{
			Field: "apiVersion", Message: fmt.Sprintf("there is no %s in %s", gvk.Kind, gvk.GroupVersion()),
			Hint: fmt.Sprintf("did you mean %q?", meant.GroupVersion()), Meant: meant,
		}
	}
	if ours && Product(gvk.Group) != kubernetes {
		return noKind(gvk)
	}
	return nil
}

// noKind is the mistake of a kind that comes near none of a group of Flux's.
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

// isComplete says whether all kinds of a group are known, and all versions: it is Flux's, the Flux
// Operator's, or one of Kubernetes itself.
func isComplete(group string) bool {
	return hasGroup(versions(), group) &&
		(Product(group) != kubernetes || !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io"))
}

// hasGroup says whether the set has definitions of a group's kinds.
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

// alpha are versions that come and go with the releases of Kubernetes.
var alpha = regexp.MustCompile(`^v\d+alpha\d+$`)

// wrongVersion is the mistake of a version that no release has of a kind that is known; nil for
// one that a release has or had, or may have had.
func wrongVersion(gvk schema.GroupVersionKind, all []Version) *Mistake {
	if slices.ContainsFunc(all, func(v Version) bool { return v.Name == gvk.Version }) || !isComplete(gvk.Group) ||
		Product(gvk.Group) == kubernetes && alpha.MatchString(gvk.Version) {
		return nil
	}
	meant := current(gvk.GroupKind(), all)
	m := &Mistake{
		Field: "apiVersion", Message: fmt.Sprintf("no known release of %s has %s of %s", Product(gvk.Group), gvk.GroupVersion(), gvk.Kind),
		Hint: fmt.Sprintf("write %s", meant.GroupVersion()), Meant: meant,
	}
	served := slices.IndexFunc(all, func(v Version) bool { return v.Served })
	if m.Newer = served >= 0 && comesAfter(gvk.Version, all[served].Name); m.Newer {
		m.Hint += ", unless the cluster runs a newer release that has it"
	}
	return m
}

var versionName = regexp.MustCompile(`^v([1-9]\d?)(?:(alpha|beta)([1-9]\d?))?$`)

// comesAfter says whether a release may serve a version next, after the newest of those before it:
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

// current is the kind to write for one that some versions are known of, the newest first.
func current(of schema.GroupKind, all []Version) schema.GroupVersionKind {
	served := slices.IndexFunc(all, func(v Version) bool { return v.Served && !v.Deprecated() })
	if served < 0 {
		return cmp.Or(all[0].Replacement, of.WithVersion(all[0].Name))
	}
	return of.WithVersion(all[served].Name)
}

// misspelt is the kind that one of a group whose kinds are all known must be, misspelt or cut
// short; "" where none is near enough.
func misspelt(gvk schema.GroupVersionKind) string {
	const most = 2 // letters
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

// otherGroup is the kind of the same name that was meant where its group is none: a letter or two
// of the group's name are wrong, it has no dot, as no CustomResourceDefinition's, or the group is
// one of the same product (ours), which has no such kind.
func otherGroup(gvk schema.GroupVersionKind, ours bool) (meant schema.GroupVersionKind, ok bool) {
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
			continue // scheduling.x-k8s.io is another one
		}
		if distance < least || distance == least && there.Group < meant.Group {
			least, meant, ok = distance, there, true
		}
	}
	return meant, ok
}

// swapped says whether two names of the same length differ in two letters that have changed places.
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
