package valueuse

import (
	"bytes"
	pathpkg "path"
	"regexp"
	"strings"
	"text/template/parse"

	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// Reads contains the values that the templates of a chart and of its dependencies may read, whatever the values are.
type Reads struct {
	reads    []readPath
	words    map[string]bool
	defaults []chartDefaults
}

// chartDefaults are a chart's own values, and their path in the values of the installed chart.
type chartDefaults struct {
	prefix []string
	values map[string]any
}

// file is a template that Helm renders.
type file struct {
	body *parse.ListNode
	dot  *value
}

// Of follows the values through the templates of a chart. It returns false if the chart is too large, or if a template cannot
// be parsed.
func Of(c *chart.Chart) (*Reads, bool) {
	b := builder{analysis: newAnalysis()}
	if !b.chart(c, nil, 0) {
		return nil, false
	}
	b.run()
	if len(b.rootFields) > 0 {
		b.run() // a template may set fields that others have read before
	}
	if b.exceeded || b.words[everything] {
		return nil, false
	}
	if b.close(); b.exceeded {
		return nil, false
	}
	r := &Reads{words: b.words, defaults: b.defaults}
	for _, key := range sortedKeys(b.reads) {
		r.reads = append(r.reads, b.reads[key])
	}
	return r, true
}

// run evaluates all files.
func (b *builder) run() {
	b.done = map[string]bool{}
	for _, file := range b.files {
		f := &frame{analysis: b.analysis}
		f.declare("$", file.dot)
		f.list(file.body, file.dot)
	}
}

// builder collects the templates and values of a chart and its dependencies.
type builder struct {
	*analysis
	files    []file
	defaults []chartDefaults
}

const mostCharts = 12 // maximum depth of dependencies

func (b *builder) chart(c *chart.Chart, prefix []string, depth int) bool {
	if depth > mostCharts || c.Metadata == nil {
		return false
	}
	root := rootOf(prefix)
	for _, t := range c.Templates {
		if t == nil || !b.template(t.Name, string(t.Data), root) {
			return false
		}
	}
	b.defaults = append(b.defaults, chartDefaults{prefix, c.Values})
	b.noteAll(c.Values)
	for _, f := range c.Files {
		if f != nil && bytes.Contains(f.Data, []byte("{{")) {
			b.note(string(f.Data)) // templates may read files and evaluate them
		}
	}
	return b.dependencies(c, prefix, depth)
}

func (b *builder) template(name, text string, root *value) bool {
	tree, err := b.parse(name, text)
	if err != nil {
		return false
	}
	if !strings.HasPrefix(pathpkg.Base(name), "_") && tree.Root != nil {
		b.files = append(b.files, file{tree.Root, root})
	}
	return true
}

func (b *builder) dependencies(c *chart.Chart, prefix []string, depth int) bool {
	known := map[string]bool{}
	for _, d := range c.Metadata.Dependencies {
		if d == nil {
			continue
		}
		name := d.Name
		if d.Alias != "" {
			name = d.Alias
		}
		for condition := range strings.SplitSeq(d.Condition, ",") {
			if condition = strings.TrimSpace(condition); condition != "" {
				b.read(below(prefix, strings.Split(condition, ".")...), whole)
			}
		}
		b.read(below(prefix, "tags"), whole)
		found := false
		for _, child := range c.Dependencies() {
			if child.Metadata != nil && child.Metadata.Name == d.Name {
				found, known[d.Name] = true, true
				if !b.child(child, prefix, name, depth) {
					return false
				}
			}
		}
		if !found {
			b.read(below(prefix, name), whole)
			b.read(below(prefix, "global"), whole)
		}
		b.imported(d.ImportValues, prefix, name)
	}
	for _, child := range c.Dependencies() {
		if child.Metadata != nil && !known[child.Metadata.Name] && !b.child(child, prefix, child.Metadata.Name, depth) {
			return false
		}
	}
	return true
}

func (b *builder) child(c *chart.Chart, prefix []string, name string, depth int) bool {
	at := below(prefix, name)
	b.children[path(prefix).key()] = append(b.children[path(prefix).key()], name)
	b.holds(at.child("global"), pathOf(below(prefix, "global")))
	return b.chart(c, at, depth+1)
}

// imported records the values that a chart imports from a dependency.
func (b *builder) imported(values []any, prefix []string, name string) {
	for _, one := range values {
		switch one := one.(type) {
		case string:
			b.holds(prefix, pathOf(below(prefix, name, "exports", one)))
		case map[string]any:
			from, _ := one["child"].(string)
			to, _ := one["parent"].(string)
			at := prefix
			if to != "." {
				at = below(prefix, strings.Split(to, ".")...)
			}
			b.holds(at, pathOf(below(prefix, append([]string{name}, strings.Split(from, ".")...)...)))
		}
	}
}

var (
	wordsOf = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_-]*`)
	// wholeValues matches the use of all values in a template.
	wholeValues = regexp.MustCompile(`\.Values\s*[|)}]`)
)

// everything is the entry in words that means all values.
const everything = "*"

// note adds the names in a string that is evaluated as a template to words.
func (a *analysis) note(text string) { noteIn(a.words, text) }

func noteIn(words map[string]bool, text string) {
	if !strings.Contains(text, "{{") && !strings.Contains(text, ".Values") {
		return
	}
	if wholeValues.MatchString(text) {
		words[everything] = true
	}
	for _, word := range wordsOf.FindAllString(text, -1) {
		words[word] = true
	}
}

// noteAll adds the names in the strings of values to words.
func (a *analysis) noteAll(v any) { noteAllIn(a.words, v) }

func noteAllIn(words map[string]bool, v any) {
	switch v := v.(type) {
	case string:
		noteIn(words, v)
	case map[string]any:
		for key, item := range v {
			noteIn(words, key)
			noteAllIn(words, item)
		}
	case []any:
		for _, item := range v {
			noteAllIn(words, item)
		}
	}
}
