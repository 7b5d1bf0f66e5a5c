package valueuse

import (
	"maps"
	"slices"
	"strings"
)

// anyStep is a step of a path that is an unknown key or an index.
const anyStep = "*"

// Limits of an analysis. A chart that exceeds them is not decided.
const (
	mostSteps  = 600_000   // evaluated nodes of templates
	mostHeld   = 3_000_000 // comparisons of read values with values that contain them
	mostPaths  = 60        // possible paths of one value
	mostDeep   = 12        // steps of a path
	mostConsts = 40        // possible strings of one value
	mostNested = 60        // depth of templates that include each other
	mostReads  = 20_000
)

// path is the path of a value in the chart's values: keys, or anyStep.
type path []string

func (p path) key() string { return strings.Join(p, "\x00") }

func (p path) child(step string) path { return append(slices.Clone(p), step) }

// below returns a path with more steps.
func below(p path, more ...string) path { return append(slices.Clone(p), more...) }

// value is the set of possible values of an expression in a template. Like Helm's maps, it is shared, not copied.
type value struct {
	// paths are the values of the chart that the expression may be, by their paths.
	paths map[string]path
	// roots are the charts whose context ($ with Values, Release and so on) the expression may be, by the paths of the charts' values.
	roots map[string]path
	// fields are the fields of a map that a template creates; item is a value with an unknown key, or an item of a list.
	fields map[string]*value
	item   *value
	// consts are the possible strings; other is set if it may be something else that is not one of the chart's values.
	consts map[string]bool
	other  bool
	// from are the values that it was created from: a field that is set in one of the maps is also set in the other.
	from []*value
	// fresh is set for a copy: setting a field in it does not change the chart's values.
	fresh bool
}

func unknown() *value { return &value{other: true} }

func textOf(texts ...string) *value {
	v := &value{consts: map[string]bool{}}
	for _, text := range texts {
		v.consts[text] = true
	}
	return v
}

func pathOf(p path) *value { return &value{paths: map[string]path{p.key(): p}} }

func rootOf(prefix path) *value { return &value{roots: map[string]path{prefix.key(): prefix}} }

// named returns the possible strings of a value, and whether it can be nothing else.
func (v *value) named() ([]string, bool) {
	return slices.Sorted(maps.Keys(v.consts)), len(v.consts) > 0 && !v.other && len(v.paths)+len(v.roots)+len(v.fields) == 0 && v.item == nil
}

// add adds the possible values of another value to a value.
func (a *analysis) add(v, other *value) {
	if other == nil || v == other || !a.step() {
		return
	}
	for key, p := range other.paths {
		if v.paths == nil {
			v.paths = map[string]path{}
		}
		v.paths[key] = p
	}
	for key, p := range other.roots {
		if v.roots == nil {
			v.roots = map[string]path{}
		}
		v.roots[key] = p
	}
	for text := range other.consts {
		if v.consts == nil {
			v.consts = map[string]bool{}
		}
		v.consts[text] = true
	}
	for name, field := range other.fields {
		a.addField(v, name, field)
	}
	if other.item != nil {
		a.addItem(v, other.item)
	}
	v.other = v.other || other.other
	v.fresh = v.fresh && other.fresh
	if other.fields != nil || other.item != nil || other.from != nil {
		v.from = append(v.from, other)
	}
	if len(v.consts) > mostConsts {
		v.consts, v.other = nil, true
	}
	if len(v.paths) > mostPaths {
		a.exceeded = true
	}
}

func (a *analysis) addField(v *value, name string, field *value) {
	if v.fields == nil {
		v.fields = map[string]*value{}
	}
	switch old := v.fields[name]; {
	case old == nil:
		v.fields[name] = field
	case old != field:
		v.fields[name] = a.either(old, field)
	}
}

func (a *analysis) addItem(v, item *value) {
	switch {
	case v.item == nil:
		v.item = item
	case v.item != item:
		v.item = a.either(v.item, item)
	}
}

// either returns a value that may be any of several. It shares the fields of maps with them.
func (a *analysis) either(all ...*value) *value {
	if len(all) == 1 {
		return all[0]
	}
	v := &value{fresh: true}
	for _, one := range all {
		if a.step() {
			a.add(v, one)
		}
	}
	return v
}

// field returns the possible values of a field.
func (a *analysis) field(v *value, name string) *value {
	if item := v.fields[name]; item != nil && len(v.paths)+len(v.roots) == 0 && v.item == nil {
		return item
	}
	found := &value{other: v.other || len(v.consts) > 0}
	for _, p := range v.paths {
		a.addPath(found, p, name)
	}
	for _, prefix := range v.roots {
		switch name {
		case "Values":
			a.add(found, pathOf(prefix))
		case "Subcharts":
			found.item = &value{}
			for _, child := range a.children[prefix.key()] {
				a.addField(found, child, rootOf(prefix.child(child)))
			}
		default:
			found.other = true
		}
		a.add(found, a.rootFields[name])
	}
	a.add(found, v.fields[name])
	a.add(found, v.item)
	return found
}

// addPath adds the value at a step below a path.
func (a *analysis) addPath(v *value, p path, step string) {
	if len(p) >= mostDeep {
		a.read(p, whole)
		v.other = true
		return
	}
	a.add(v, pathOf(p.child(step)))
}

// element returns the possible values of any item, or of a field with an unknown key.
func (a *analysis) element(v *value) *value {
	found := &value{other: v.other || len(v.consts) > 0}
	for _, p := range v.paths {
		a.addPath(found, p, anyStep)
	}
	for _, prefix := range v.roots {
		a.read(prefix, whole)
	}
	for _, name := range slices.Sorted(maps.Keys(v.fields)) {
		a.add(found, v.fields[name])
	}
	a.add(found, v.item)
	return found
}

// index returns the possible values at a key.
func (a *analysis) index(v, key *value) *value {
	names, known := key.named()
	if !known {
		a.consume(key)
		return a.element(v)
	}
	all := make([]*value, len(names))
	for i, name := range names {
		all[i] = a.field(v, name)
	}
	return a.either(all...)
}

// consume records that a value is read completely.
func (a *analysis) consume(v *value) { a.consumeOnce(v, map[*value]bool{}) }

func (a *analysis) consumeOnce(v *value, seen map[*value]bool) {
	if v == nil || seen[v] || !a.step() {
		return
	}
	seen[v] = true
	for _, p := range v.paths {
		a.read(p, whole)
	}
	for _, prefix := range v.roots {
		a.read(prefix, whole)
	}
	for _, field := range v.fields {
		a.consumeOnce(field, seen)
	}
	a.consumeOnce(v.item, seen)
}

// touch records that a part of a value itself is read, but not its items.
func (a *analysis) touch(v *value, how reading) {
	for _, p := range v.paths {
		a.read(p, how)
	}
}
