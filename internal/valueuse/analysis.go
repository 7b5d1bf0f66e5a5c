// Package valueuse finds the values that no template of a chart reads, whatever its conditions are. It follows each value
// through the templates instead of running them. A value that it cannot follow counts as read.
package valueuse

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template/parse"
)

// reading is a set of the parts of a value that are read.
type reading int

const (
	truth  reading = 1 << iota // whether it is empty
	itself                     // whether it exists, or its type
	whole                      // everything in it
)

// analysis follows the values through the templates of a chart.
type analysis struct {
	defined map[string][]*parse.ListNode
	// children maps the paths of charts' values to the names of the charts' dependencies.
	children map[string][]string
	// rootFields are the fields that templates set in the contexts of charts.
	rootFields map[string]*value

	reads map[string]readPath
	// held records which values contain other values because templates merge or set them.
	held map[string]holding
	// done are the templates that were evaluated, by name and context.
	done map[string]bool

	functions map[string]function
	// words are the names in strings that are evaluated as templates.
	words map[string]bool
	// steps, changed and compared count the steps, the changes of maps in templates, and the comparisons of held values.
	steps, changed, compared int
	// exceeded is set if the chart is too large to be followed.
	exceeded bool
}

type readPath struct {
	path
	how reading
}

// holding records that the value at a path contains the value at another path.
type holding struct{ at, what path }

func newAnalysis() *analysis {
	return &analysis{
		defined: map[string][]*parse.ListNode{}, children: map[string][]string{}, rootFields: map[string]*value{}, reads: map[string]readPath{},
		held: map[string]holding{}, done: map[string]bool{}, functions: newFunctions(), words: map[string]bool{},
	}
}

// step counts a step, and reports whether the analysis may continue.
func (a *analysis) step() bool {
	if a.steps++; a.steps > mostSteps {
		a.exceeded = true
	}
	return !a.exceeded
}

func (a *analysis) read(p path, how reading) {
	key := p.key()
	one := a.reads[key]
	a.reads[key] = readPath{p, one.how | how}
	if len(a.reads) > mostReads || len(p) == 0 && how&whole != 0 { // all values are read already
		a.exceeded = true
	}
}

// holds records that the value at a path contains another value.
func (a *analysis) holds(at path, v *value) {
	for _, p := range v.paths {
		a.held[at.key()+"\x01"+p.key()] = holding{at, p}
	}
	rest := *v
	rest.paths = nil
	a.consume(&rest)
}

func (a *analysis) addRootField(name string, v *value) {
	if old := a.rootFields[name]; old != nil {
		v = a.either(old, v)
	}
	a.rootFields[name] = v
}

// parse parses a text and adds the templates that it defines.
func (a *analysis) parse(name, text string) (*parse.Tree, error) {
	tree := parse.New(name)
	tree.Mode = parse.SkipFuncCheck
	set := map[string]*parse.Tree{}
	tree, err := tree.Parse(text, "", "", set)
	if err != nil {
		return nil, err
	}
	for _, define := range slices.Sorted(maps.Keys(set)) {
		if set[define] != tree && set[define].Root != nil {
			a.defined[define] = append(a.defined[define], set[define].Root)
		}
	}
	return tree, nil
}

// include evaluates the templates with a name and a context.
func (a *analysis) include(name string, dot *value, nested int) {
	all := a.defined[name]
	if len(all) == 0 || nested > mostNested {
		a.consume(dot)
		return
	}
	key := name + "\x02" + a.describe(dot, 0)
	if a.done[key] || !a.step() {
		return
	}
	a.done[key] = true
	before := a.changed
	for _, body := range all {
		f := &frame{analysis: a, nested: nested + 1}
		f.declare("$", dot)
		f.list(body, dot)
	}
	if a.changed != before {
		delete(a.done, key) // the next time, it may change another map
	}
}

// inline evaluates a string as a template.
func (f *frame) inline(text string, dot *value) {
	if !strings.Contains(text, "{{") {
		return
	}
	tree, err := f.parse("tpl", text)
	if err != nil || f.nested > mostNested || tree.Root == nil {
		return // the template fails in Helm as well
	}
	inner := &frame{analysis: f.analysis, nested: f.nested + 1}
	inner.declare("$", dot)
	inner.list(tree.Root, dot)
}

// describe returns a string that identifies a context.
func (a *analysis) describe(v *value, depth int) string {
	if v == nil || !a.step() {
		return ""
	}
	if depth > 6 {
		return fmt.Sprintf("%p", v)
	}
	var b strings.Builder
	for _, key := range sortedKeys(v.paths) {
		b.WriteString("p" + key + "\x03")
	}
	for _, key := range sortedKeys(v.roots) {
		b.WriteString("r" + key + "\x03")
	}
	for _, key := range sortedKeys(v.consts) {
		b.WriteString("c" + key + "\x03")
	}
	for _, key := range sortedKeys(v.fields) {
		b.WriteString("f" + key + "{" + a.describe(v.fields[key], depth+1) + "}")
	}
	if v.item != nil {
		b.WriteString("i{" + a.describe(v.item, depth+1) + "}")
	}
	fmt.Fprintf(&b, "%t", v.other)
	return b.String()
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
