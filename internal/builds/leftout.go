package builds

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// exclusion is a part that a build excludes in order to continue after a failure: an entry of a kustomization, a document
// of a file, or a patch of the Flux Kustomization.
type exclusion struct {
	file string
	// field and value are the entry of the kustomization, or the field that is reset.
	field string
	value any
	// text is the patch, if it is in a file.
	text string
	// line is where the document begins, if there is no field.
	line int
	// added is the number of the patch in the Flux Kustomization, starting at 1.
	added int
}

// leftOut is the set of exclusions of one build.
type leftOut struct {
	entries map[string][]exclusion
	lines   map[string][]int
	whole   map[string]bool
	added   map[int]bool
	// loose are the objects that an excluded patch may change.
	loose []loosened
}

// add adds an exclusion, and reports whether it is new.
func (l *leftOut) add(e *exclusion) bool {
	switch {
	case e.added > 0:
		known := l.added[e.added]
		l.added[e.added] = true
		return !known
	case e.field != "":
		known := l.has(e)
		l.entries[e.file] = append(l.entries[e.file], *e)
		return !known
	case !slices.Contains(l.lines[e.file], e.line):
		l.lines[e.file] = append(l.lines[e.file], e.line)
		return true
	}
	known := l.whole[e.file]
	l.whole[e.file] = true
	return !known
}

// has reports whether a part is already excluded.
func (l *leftOut) has(e *exclusion) bool {
	switch {
	case l == nil || e == nil:
		return false
	case e.added > 0:
		return l.added[e.added]
	case e.field != "":
		return slices.ContainsFunc(l.entries[e.file], func(other exclusion) bool {
			return other.field == e.field && reflect.DeepEqual(other.value, e.value)
		})
	}
	return l.whole[e.file] || slices.Contains(l.lines[e.file], e.line)
}

// touches reports whether something in a file is excluded.
func (l *leftOut) touches(file string) bool {
	return l != nil && (l.whole[file] || len(l.lines[file]) > 0 || len(l.entries[file]) > 0)
}

// separator matches a line that begins a document.
var separator = regexp.MustCompile(`(?m)^---(?:[ \t].*)?\r?$`)

// apply returns the data of a file without the excluded parts.
func (l *leftOut) apply(file string, data []byte) []byte {
	switch {
	case l.whole[file]:
		return nil
	case len(l.entries[file]) > 0:
		var k types.Kustomization
		if yaml.Unmarshal(data, &k) != nil {
			return data
		}
		l.edit(file, &k)
		if edited, err := yaml.Marshal(k); err == nil {
			return edited
		}
		return data
	}
	text := string(data)
	starts := []int{0}
	for _, at := range separator.FindAllStringIndex(text, -1) {
		starts = append(starts, at[0])
	}
	var kept strings.Builder
	line := 1
	for i, start := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		next := line + strings.Count(text[start:end], "\n")
		if !slices.ContainsFunc(l.lines[file], func(out int) bool { return line <= out && (out < next || end == len(text)) }) {
			kept.WriteString(text[start:end])
		}
		line = next
	}
	return []byte(kept.String())
}

// edit removes the excluded entries from the kustomization of a file.
func (l *leftOut) edit(file string, k *types.Kustomization) {
	fields := reflect.ValueOf(k).Elem()
	for _, e := range l.entries[file] {
		for i := range fields.NumField() {
			name, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("json"), ",")
			if name == e.field || name == "bases" && e.field == "resources" {
				without(fields.Field(i), e.value)
			}
		}
		switch e.field { // of the embedded TypeMeta
		case "apiVersion":
			k.APIVersion = ""
		case "kind":
			k.Kind = ""
		}
	}
	notEmpty(k)
}

// without removes a value from a list: the last one, if it occurs several times.
func without(list reflect.Value, value any) {
	if list.Kind() != reflect.Slice {
		return
	}
	for i := list.Len() - 1; i >= 0; i-- {
		if reflect.DeepEqual(nameOf(list.Index(i).Interface()), nameOf(value)) {
			kept := reflect.MakeSlice(list.Type(), 0, list.Len())
			kept = reflect.AppendSlice(reflect.AppendSlice(kept, list.Slice(0, i)), list.Slice(i+1, list.Len()))
			list.Set(kept)
			return
		}
	}
}

// nameOf returns the namespace and name of a generator, whose files may be excluded, and any other value unchanged.
func nameOf(value any) any {
	switch v := value.(type) {
	case types.ConfigMapArgs:
		return [2]string{v.Namespace, v.Name}
	case types.SecretArgs:
		return [2]string{v.Namespace, v.Name}
	}
	return value
}

// notEmpty keeps kustomize from refusing a kustomization as empty after its entries were excluded.
func notEmpty(k *types.Kustomization) {
	rest := *k
	rest.TypeMeta = types.TypeMeta{}
	if reflect.ValueOf(rest).IsZero() {
		fill(k)
	}
}

// fill sets the namespace of a kustomization without resources, so that kustomize doesn't refuse it as empty.
// No object gets that namespace.
func fill(k *types.Kustomization) { k.Namespace = "_placeholder" }

// entryAt returns the exclusion of an entry of a kustomization's field, nil if there is none.
func entryAt(k *repository.Kustomize, at ...any) *exclusion {
	field, _ := at[0].(string)
	if field == "apiVersion" || field == "kind" {
		return &exclusion{file: k.File.Path, field: field}
	}
	if len(at) < 2 || k.Spec == nil {
		return nil
	}
	index, isIndex := at[1].(int)
	fields := reflect.ValueOf(k.Spec).Elem()
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("json"), ",")
		if list := fields.Field(i); name == field && isIndex && list.Kind() == reflect.Slice && index < list.Len() {
			return &exclusion{file: k.File.Path, field: field, value: list.Index(index).Interface()}
		}
	}
	return nil
}

// loosened selects the objects that an excluded part may change, by kind and name; nil matches any.
type loosened struct{ kind, name *regexp.Regexp }
