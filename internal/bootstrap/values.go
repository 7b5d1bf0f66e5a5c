package bootstrap

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// values are what helm-controller hands to Helm.
// Source: github.com/fluxcd/pkg/chartutil v1.27, ChartValuesFromReferences: the values of
// valuesFrom in their order, the inline ones over them; a targetPath is set in the inline
// values too, where it leads into a map that only they have.
func (g *git) values(h *helmRelease) layered {
	whole := g.whole(h)
	m := newMerging(h.place, whole.at("spec", "values"))
	if files := whole.at("spec", "chart", "spec", "valuesFiles"); files != nil &&
		slices.ContainsFunc(files.items, func(v *value) bool { return v.scalar != "values.yaml" }) {
		m.unknownLayer(mark{reason: "values come from files inside of the chart (valuesFiles)"})
	}
	if from := whole.at("spec", "valuesFrom"); from != nil {
		for _, ref := range from.items {
			g.addReference(m, h, ref)
		}
	}
	return m.done()
}

// writtenValues are the values in the HelmRelease's file, nil where it has none.
func (h *helmRelease) writtenValues() *value {
	o := h.applied.Source
	if o == nil {
		return nil
	}
	n := o.Lookup("spec", "values")
	if n == nil {
		return nil
	}
	v, err := valueOf(o.File(), n, asKustomize)
	if err != nil {
		return nil
	}
	return v
}

// merging merges values as Flux does: once of all that is known, and once of what stands over
// the last part that isn't.
type merging struct {
	all, sure *mergedValues
	unknown   []mark
	// created are the elements of lists that targetPaths create.
	created count.Lists
}

// mergedValues are values in the making, over which the inline ones come.
type mergedValues struct{ value, inline *value }

func newMerging(at place, inline *value) *merging {
	if inline == nil || !inline.isMap {
		inline = emptyMap(at)
	}
	return &merging{all: &mergedValues{emptyMap(at), inline.clone()}, sure: &mergedValues{emptyMap(at), inline.clone()}}
}

func (m *merging) layer(v *value) {
	for _, each := range []*mergedValues{m.all, m.sure} {
		each.value = mergeMaps(each.value, v.clone())
	}
}

func (m *merging) unknownLayer(because mark) {
	m.unknown = append(m.unknown, because)
	m.sure.value = emptyMap(place{})
}

// set sets a value at a path; steps are names of fields (string) and indexes (int).
func (m *merging) set(steps []any, v *value) {
	for _, each := range []*mergedValues{m.all, m.sure} {
		each.value = mergeMaps(each.value, each.inline)
		setAt(each.value, steps, v)
	}
}

func (m *merging) done() layered {
	return layered{value: mergeMaps(m.all.value, m.all.inline), sure: mergeMaps(m.sure.value, m.sure.inline), unknown: m.unknown}
}

// mergeMaps lays b over a. As in Helm's and Flux's own, a map that only one has is shared with
// the result.
func mergeMaps(a, b *value) *value {
	out := &value{place: b.place, isMap: true, fields: maps.Clone(a.fields)}
	if len(b.fields) == 0 {
		out.place = a.place
	}
	for key, v := range b.fields {
		if before := out.fields[key]; isMap(before) && isMap(v) {
			v = mergeMaps(before, v)
		}
		out.fields[key] = v
	}
	return out
}

// setAt changes a map in place, as strvals does.
func setAt(in *value, steps []any, v *value) {
	key, _ := steps[0].(string)
	in.fields[key] = placedAt(in.fields[key], steps[1:], v)
}

// placedAt is what stands at a place once v is set below it.
func placedAt(before *value, steps []any, v *value) *value {
	if len(steps) == 0 {
		return v
	}
	switch step := steps[0].(type) {
	case string:
		if !isMap(before) {
			before = emptyMap(v.place)
		}
		setAt(before, steps, v)
		return before
	case int:
		out := before
		if !isList(before) || len(before.items) <= step {
			// Only a list that grows is another one.
			out = &value{place: v.place, isList: true}
			if isList(before) {
				out.place, out.items = before.place, slices.Clone(before.items)
			}
			for len(out.items) <= step {
				out.items = append(out.items, &value{place: v.place})
			}
		}
		out.items[step] = placedAt(out.items[step], steps[1:], v)
		return out
	}
	return before
}

// clone copies a value, its maps and lists with it.
func (v *value) clone() *value {
	out := *v
	if v.isMap {
		out.fields = make(map[string]*value, len(v.fields))
		for key, field := range v.fields {
			out.fields[key] = field.clone()
		}
	}
	out.items = nil
	for _, item := range v.items {
		out.items = append(out.items, item.clone())
	}
	return &out
}

// addReference adds what an entry of valuesFrom refers to.
func (g *git) addReference(m *merging, h *helmRelease, ref *value) {
	kind, name := textAt(ref, "kind").value, textAt(ref, "name").value
	key := orText(textAt(ref, "valuesKey").value, "values.yaml")
	target := textAt(ref, "targetPath")
	steps, readable := targetSteps(target.value)
	if target.value != "" && !readable {
		m.unknownLayer(mark{reason: fmt.Sprintf("the targetPath %q is not evaluated", target.value)})
		return
	}
	if err := m.created.Add(target.value); err != nil {
		bounds.Refuse(h.unit(), err.Error())
		m.unknownLayer(mark{reason: fmt.Sprintf("the targetPath %q is not evaluated: %v", shortened(target.value), err)})
		return
	}
	fail := func(because mark) {
		if len(steps) > 0 {
			m.set(steps, &value{place: ref.place, unknown: &because, referred: true})
			return
		}
		m.unknownLayer(because)
	}
	if kind != "ConfigMap" && kind != "Secret" {
		fail(mark{reason: fmt.Sprintf("values come from a %s, which is not read", kind)})
		return
	}
	d, because := g.datum(h, kind, name, key)
	switch {
	case because.reason != "" && textAt(ref, "optional").value == "true" && d == nil:
		return
	case because.reason != "":
		fail(because)
	case len(steps) > 0:
		v, ok := d.leaf(textAt(ref, "literal").value == "true")
		if !ok {
			fail(mark{reason: fmt.Sprintf("the value of the targetPath %q is not evaluated", target.value)})
			return
		}
		m.set(steps, v)
	default:
		v, because := d.values()
		if v == nil {
			fail(because)
			return
		}
		m.layer(v)
	}
}

// targetSteps reads a path as Helm's --set does: names with dots between them, a dot in a name
// after a backslash, and indexes in brackets.
func targetSteps(target string) (steps []any, ok bool) {
	var name strings.Builder
	flush := func() {
		if name.Len() > 0 {
			steps = append(steps, name.String())
			name.Reset()
		}
	}
	for i := 0; i < len(target); i++ {
		switch c := target[i]; c {
		case '\\':
			if i++; i == len(target) {
				return nil, false
			}
			name.WriteByte(target[i])
		case '.':
			flush()
		case '[':
			flush()
			digits, _, closed := strings.Cut(target[i+1:], "]")
			index := indexOf(digits)
			if !closed || index < 0 || index > 1000 || len(steps) == 0 {
				return nil, false
			}
			steps = append(steps, index)
			i += len(digits) + 1
		case ']', '{', '}', ',', '=', '$':
			return nil, false
		default:
			name.WriteByte(c)
		}
	}
	flush()
	return steps, len(steps) > 0
}

// datum is the text under a key of a ConfigMap or Secret.
type datum struct {
	object *reconcile.Object
	text   string
	// at is the line before the text's first one; inline says that the text stands on it.
	at     place
	inline bool
	key    string
}

// datum finds the text under a key. The mark says why it is not known; there is no datum where
// the object or the key is not there.
func (g *git) datum(h *helmRelease, kind, name, key string) (*datum, mark) {
	namespace := h.metadataNamespace()
	o := g.applied(h, reconcile.Identity{Kind: kind, Namespace: namespace, Name: name})
	if o == nil {
		o = g.near(h, kind, name)
	}
	if o == nil {
		return nil, mark{reason: fmt.Sprintf("values come from the %s %s/%s, which is not in the repository", kind, namespace, name)}
	}
	content, known, found := o.Datum(key)
	switch {
	case !found:
		return nil, mark{reason: fmt.Sprintf("values come from the key %q of the %s %s/%s, which has none", key, kind, namespace, name)}
	case !known && o.Encrypted:
		return &datum{}, mark{reason: fmt.Sprintf("values come from the encrypted %s %s/%s", kind, namespace, name)}
	case !known:
		content, _ = fieldOf(o.Value, "data", key).(string) // with variables that are not known
		if kind == "Secret" || content == "" {
			return &datum{}, mark{reason: fmt.Sprintf("values come from the %s %s/%s, whose value is not known", kind, namespace, name)}
		}
	}
	d := &datum{object: o, text: content, at: place{o.File, o.Line}, inline: true, key: key}
	g.placeDatum(d)
	return d, mark{}
}

// near is a ConfigMap or Secret that a HelmRelease of a file may mean: one in a file, or one
// that its kustomization generates, the only one.
func (g *git) near(h *helmRelease, kind, name string) *reconcile.Object {
	all := g.written("", kind, name)
	if k := h.applied.Kustomization; k != nil {
		for _, o := range k.Objects {
			if o.Source == nil && o.Group == "" && o.Kind == kind && strings.HasPrefix(o.Name, name+"-") {
				all = append(all, o)
			}
		}
	}
	for _, keep := range []func(*reconcile.Object) bool{
		func(o *reconcile.Object) bool { return path.Dir(o.File) == path.Dir(h.file) },
		func(o *reconcile.Object) bool { return o.Namespace == h.metadataNamespace() },
	} {
		var found *reconcile.Object
		for _, o := range all {
			switch {
			case !keep(o):
			case found != nil:
				return nil
			default:
				found = o
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// placeDatum finds where the text stands: in the object's document, or in the file that a
// generator reads.
func (g *git) placeDatum(d *datum) {
	o := d.object
	if o.Source != nil {
		for _, field := range []string{"data", "stringData"} {
			if n := o.Source.Lookup(field, d.key); n != nil {
				d.at, d.inline = place{o.File, n.Line}, !strings.Contains(n.Value, "\n")
			}
		}
		return
	}
	for _, kustomize := range g.kustomizesOf(o.Kustomization) {
		for _, generated := range kustomize.Spec.ConfigMapGenerator {
			g.placeGenerated(d, kustomize.Dir, generated.Name, generated.FileSources)
		}
		for _, generated := range kustomize.Spec.SecretGenerator {
			g.placeGenerated(d, kustomize.Dir, generated.Name, generated.FileSources)
		}
	}
}

// kustomizesOf are the kustomizations that the build of a Flux Kustomization read.
func (g *git) kustomizesOf(k *reconcile.Kustomization) []*repository.Kustomize {
	var read []*repository.Kustomize
	if k == nil || k.Repo != g.repo {
		return nil
	}
	for _, kustomize := range g.repo.Kustomizes() {
		if _, ok := slices.BinarySearch(k.Files, kustomize.File.Path); ok && kustomize.Spec != nil && kustomize.Document != nil {
			read = append(read, kustomize)
		}
	}
	return read
}

// placeGenerated takes the place of a generator's file.
func (g *git) placeGenerated(d *datum, dir, name string, sources []string) {
	if !strings.Contains(d.object.Name, name) {
		return
	}
	for _, source := range sources {
		key, ref, keyed := strings.Cut(source, "=")
		if !keyed {
			key, ref = path.Base(source), source
		}
		if p, ok := repository.Join(dir, ref); ok && key == d.key && g.repo.Exists(p) {
			d.at, d.inline = place{p, 0}, false
		}
	}
}

// values reads the text as the values that Helm gets.
func (d *datum) values() (*value, mark) {
	nodes, err := parseText(d.at.file, d.text)
	if err != nil || len(nodes) == 0 {
		if err == nil && strings.TrimSpace(d.text) == "" {
			return emptyMap(d.at), mark{}
		}
		return nil, d.noMap()
	}
	shiftLines(nodes[:1], func(line int) int {
		if d.inline {
			return d.at.line
		}
		return line + d.at.line
	})
	v, err := valueOf(d.at.file, nodes[0], asHelm)
	if err != nil {
		return nil, mark{reason: shortened(err.Error())}
	}
	if !v.isMap {
		return nil, d.noMap()
	}
	v.flag(d.flag)
	return v, mark{}
}

func (d *datum) noMap() mark {
	return mark{reason: fmt.Sprintf("the key %s of the %s %s is no YAML map", d.key, d.object.Kind, d.object.Name)}
}

// flag calls f with all parts of a value.
func (v *value) flag(f func(*value)) {
	f(v)
	for _, field := range v.fields {
		field.flag(f)
	}
	for _, item := range v.items {
		item.flag(f)
	}
}

// indexOf reads a list index, -1 where it is none.
func indexOf(key string) int {
	i, err := strconv.Atoi(key)
	if err != nil || i < 0 {
		return -1
	}
	return i
}

// flag notes where a value comes from.
func (d *datum) flag(v *value) {
	v.referred, v.secret = true, d.object.Kind == "Secret"
	if text, ok := v.scalar.(string); ok {
		v.unknown = unknownVariable(d.object, text)
	}
}

// leaf reads the text as the value of a targetPath: a quoted text stays text.
func (d *datum) leaf(literal bool) (*value, bool) {
	v := &value{place: d.at}
	if d.at.line == 0 {
		v.line = 1
	}
	quoted := func(q string) bool { return strings.HasPrefix(d.text, q) && strings.HasSuffix(d.text, q) }
	switch {
	case literal:
		v.scalar = d.text
	case strings.ContainsAny(d.text, `,{}\`):
		return nil, false
	case quoted("'") || quoted(`"`):
		v.scalar = strings.Trim(d.text, `'"`)
	default:
		v.scalar = setScalar(d.text)
	}
	d.flag(v)
	return v, true
}
