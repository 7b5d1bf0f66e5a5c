package schema

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// unapplied checks the objects in the files of a repository without clusters. Flux may not apply a file as it is: a
// script, a program or an overlay may complete it first.
type unapplied struct {
	overlays *overlays
	// replaced returns the words that scripts of the repository replace, computed at the first use.
	replaced func() map[string]bool
}

func newUnapplied(p *rule.Pass) *unapplied {
	return &unapplied{overlays: newOverlays(p), replaced: sync.OnceValue(func() map[string]bool { return replacedWords(p.Repo) })}
}

// judge reports whether a problem of an object in a file may remain when the object is applied. It marks the problem as
// unresolved if that is unknown.
func (u *unapplied) judge(w work, o *repository.Object, object map[string]any, l *located) bool {
	value := valueAt(object, l.Path)
	switch {
	case u.isFilledIn(l.Path, value):
		return false
	case holdsShellVariable(value):
		l.Kind, l.Hint, l.Required, l.Rule = schemas.Unresolved, "", false, false
		l.Message = schemas.Field(l.Path) + " contains a variable with an unknown value"
	case l.Required || l.Rule || isEmpty(value):
		return u.remains(w, o, l)
	}
	return true
}

// remains reports whether the objects that the overlays build from an object have the same problem. It marks the problem
// as unresolved if not all of these objects are known, or if the object is in a base that no overlay of the repository
// lists.
func (u *unapplied) remains(w work, o *repository.Object, l *located) bool {
	values, overlaid, known := u.overlays.of(o)
	found, err := w.kinds.Lookup(apischema.FromAPIVersionAndKind(o.APIVersion, o.Kind))
	if err != nil {
		return true
	}
	for _, value := range values {
		problems, judged := w.judge(found, value, checked{Place: finding.Place{File: o.File()}, object: rule.ObjectOf(o)}, false)
		known = known && judged
		if slices.ContainsFunc(problems, func(p schemas.Problem) bool { return slices.Equal(p.Path, l.Path) && p.Kind == schemas.Invalid }) {
			return true
		}
	}
	if l.Kind == schemas.Invalid && (overlaid && !known || !overlaid && u.overlays.isBase(o.File())) {
		l.Kind, l.Hint = schemas.Unresolved, ""
		if !l.Required {
			l.Message += ", unless an overlay changes it"
		}
	}
	return !known
}

// placeholder matches a name in capitals, which a program replaces.
var placeholder = regexp.MustCompile(`^[A-Z]+(_[A-Z]+)+$`)

// isFilledIn reports whether a value is a name or namespace that a program or a script replaces.
func (u *unapplied) isFilledIn(at []any, value any) bool {
	name, isText := value.(string)
	if !isText || len(at) != 2 || at[0] != "metadata" || at[1] != "name" && at[1] != "namespace" || strings.ToLower(name) == name {
		return false
	}
	if placeholder.MatchString(name) {
		return true
	}
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '-' || r == '.' }) {
		if u.replaced()[word] {
			return true
		}
	}
	return false
}

// replacement matches a sed command that replaces a word in capitals.
var replacement = regexp.MustCompile(`\bs([/|#,@])\W{0,2}([A-Z][A-Z0-9_]*)\W{0,2}[/|#,@]`)

// replacedWords returns the words in capitals that scripts and instructions of a repository replace in its files.
func replacedWords(repo *repository.Repository) map[string]bool {
	words := map[string]bool{}
	otherfiles.Read(repo, map[string]bool{"sed": true}, true, func(_, text string) {
		for _, m := range replacement.FindAllStringSubmatch(text, -1) {
			words[m[2]] = true
		}
	})
	return words
}

// shellVariable matches a variable that envsubst or a shell replaces. Flux replaces only variables in braces, which the
// schema rules know.
var shellVariable = regexp.MustCompile(`\$[A-Za-z_]`)

// holdsShellVariable reports whether a value is a string with a variable. A variable in a map or list does not change its
// type.
func holdsShellVariable(value any) bool {
	text, is := value.(string)
	return is && shellVariable.MatchString(text)
}

// isEmpty reports whether a value is empty, as a base may leave it for its overlays to set.
func isEmpty(value any) bool {
	switch value := value.(type) {
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return value == nil
}

// isTemplate reports whether an object contains {{ value }} of a template, which YAML parses as a map with a map as its
// key.
func isTemplate(n *yaml.Node) bool {
	for i, child := range n.Content {
		key := n.Kind == yaml.MappingNode && i%2 == 0
		if key && n.Style&yaml.FlowStyle != 0 && child.Kind == yaml.MappingNode && child.Style&yaml.FlowStyle != 0 || isTemplate(child) {
			return true
		}
	}
	return false
}

// valueAt returns the value at a path, nil if there is none.
func valueAt(value any, path []any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fields, _ := value.(map[string]any)
			value = fields[step]
		case int:
			items, _ := value.([]any)
			if step >= len(items) {
				return nil
			}
			value = items[step]
		}
	}
	return value
}
