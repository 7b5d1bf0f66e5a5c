package charts

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	ci "helm.sh/helm/v4/pkg/chart"
	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// execution runs the templates of one chart for one release, within a budget.
// Source: helm.sh/helm/v4 pkg/engine/engine.go.
type execution struct {
	*budget
	rand    *rand.Rand
	regexes map[string]int64
	// instrumented trees; clones of templates share them.
	instrumented map[*parse.Tree]bool
	included     map[string]int
	// files is what going through all of .Files costs.
	files   int64
	lookups int
}

// renderable is a template with what it sees.
type renderable struct {
	text     string
	values   values
	basePath string
}

// TemplateError is why a template cannot be run.
type TemplateError struct {
	// Template is its file, such as "podinfo/templates/service.yaml"; Line is 0 where it is
	// not known.
	Template string
	Line     int
	Message  string
	// Chosen says that the chart itself refuses, by fail or required.
	Chosen bool
}

func (e *TemplateError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Template, e.Message)
	}
	return fmt.Sprintf("%s:%d: %s", e.Template, e.Line, e.Message)
}

// execute runs the templates of a chart and its dependencies, and returns their texts by
// their paths. The values hold what a template sees: Values, Release, Capabilities.
func execute(ctx context.Context, c *chart.Chart, top map[string]any, seed string) (map[string]string, *execution, error) {
	x := &execution{
		budget: newBudget(ctx), rand: newRandom(seed), regexes: map[string]int64{},
		instrumented: map[*parse.Tree]bool{}, included: map[string]int{},
	}
	all := map[string]renderable{}
	x.collect(c, all, top)
	texts, err := x.render(all)
	return texts, x, err
}

// spent is the work that was done.
func (x *execution) spent() int64 {
	if x.budget == nil {
		return 0
	}
	return mostWork - x.work
}

// collect gathers the templates of a chart and its dependencies with what each sees.
func (x *execution) collect(c *chart.Chart, all map[string]renderable, parent map[string]any) map[string]any {
	accessor, err := ci.NewAccessor(c)
	if err != nil {
		return nil // it is one: the type is known
	}
	metadata := accessor.MetadataAsMap()
	metadata["IsRoot"] = accessor.IsRoot()
	subcharts := map[string]any{}
	next := map[string]any{
		"Chart": metadata, "Files": newFiles(c.Files), "Release": parent["Release"], "Capabilities": parent["Capabilities"],
		"Values": values{}, "Subcharts": subcharts,
	}
	for _, f := range c.Files {
		x.files += int64(len(f.Data)+len(f.Name)) + 64
	}
	if accessor.IsRoot() {
		next["Values"] = parent["Values"]
	} else if own, err := values(parent).Table("Values." + accessor.Name()); err == nil {
		next["Values"] = own
	}
	for _, child := range c.Dependencies() {
		subcharts[child.Name()] = x.collect(child, all, next)
	}
	folder := c.ChartFullPath()
	for _, t := range c.Templates {
		if t == nil || accessor.IsLibraryChart() && !strings.HasPrefix(path.Base(t.Name), "_") {
			continue
		}
		all[path.Join(folder, t.Name)] = renderable{string(t.Data), next, path.Join(folder, "templates")}
	}
	return next
}

// render parses all templates, since each may use what another defines, and runs them.
func (x *execution) render(all map[string]renderable) (texts map[string]string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the templates cannot be run: %v", p)
		}
	}()
	t := template.New("gotpl").Option("missingkey=zero")
	t.Funcs(x.functions())
	x.bind(t)
	names := sortedTemplates(all)
	for _, name := range names {
		if err := x.parse(t.New(name), all[name].text); err != nil {
			return nil, x.failed(name, err)
		}
	}
	if err := x.instrument(t); err != nil {
		return nil, err
	}
	texts = make(map[string]string, len(names))
	left := mostOutput
	for _, name := range names {
		if strings.HasPrefix(path.Base(name), "_") {
			continue
		}
		r := all[name]
		r.values["Template"] = values{"Name": name, "BasePath": r.basePath}
		out := &boundedWriter{budget: x.budget, left: left}
		if err := t.ExecuteTemplate(out, name, r.values); err != nil {
			return nil, x.failed(name, err)
		}
		left = out.left
		texts[name] = out.String()
	}
	return texts, nil
}

// sortedTemplates are the names in the order in which Helm parses and runs them: those
// nested deeper first.
func sortedTemplates(all map[string]renderable) []string {
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := strings.Count(b, "/") - strings.Count(a, "/"); d != 0 {
			return d
		}
		return strings.Compare(b, a)
	})
	return names
}

// parse reads a text into a template.
func (x *execution) parse(t *template.Template, text string) error {
	if err := scan(text); err != nil {
		return x.stop(err)
	}
	n := int64(len(text))
	if err := x.spend(n/2+500, 2*n+1000*int64(strings.Count(text, "{{"))); err != nil {
		return err
	}
	for _, own := range ownFunctions {
		if strings.Contains(text, own) {
			return fmt.Errorf("function %q not defined", own)
		}
	}
	_, err := t.Parse(text)
	return err
}

// instrument makes the templates that are new count what they cost.
func (x *execution) instrument(t *template.Template) error {
	for _, each := range t.Templates() {
		if each.Tree == nil || each.Root == nil || x.instrumented[each.Tree] {
			continue
		}
		x.instrumented[each.Tree] = true
		if err := instrument(each.Tree); err != nil {
			return x.stop(err)
		}
	}
	return nil
}

// bind sets the functions that run templates.
func (x *execution) bind(t *template.Template) {
	t.Funcs(template.FuncMap{"include": x.include(t), "tpl": x.tpl(t)})
}

// mostRecursion is how often Helm lets a template include itself.
const mostRecursion = 1000

func (x *execution) include(t *template.Template) func(string, any) (string, error) {
	return func(name string, data any) (string, error) {
		if x.included[name] > mostRecursion {
			return "", fmt.Errorf("rendering template has a nested reference name: %s", name)
		}
		if err := x.spend(callCost, 0); err != nil {
			return "", err
		}
		x.included[name]++
		out := &boundedWriter{budget: x.budget, left: mostOutput}
		err := t.ExecuteTemplate(out, name, data)
		x.included[name]--
		return out.text.String(), innermost(err)
	}
}

// innerError is why a template fails that another one runs. Its text is that of the innermost
// only: texts that hold each other's would grow with the square of the depth.
type innerError struct {
	text string
	err  error
}

func (e *innerError) Error() string { return e.text }
func (e *innerError) Unwrap() error { return e.err }

func innermost(err error) error {
	var inner *innerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &inner):
		return inner
	}
	return &innerError{text: messageIn(err), err: err}
}

// messageIn is the message of a template's error without its place.
func messageIn(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, ">: "); i >= 0 {
		return text[i+3:]
	}
	return strings.TrimPrefix(text, "template: ")
}

// tpl runs a text as a template that sees all others.
func (x *execution) tpl(parent *template.Template) func(string, any) (string, error) {
	return func(text string, data any) (string, error) {
		t, err := parent.Clone()
		if err != nil {
			return "", fmt.Errorf("cannot clone template: %w", err)
		}
		t.Option("missingkey=zero") // golang/go#43022: a clone loses it
		x.bind(t)
		if err := x.spend(int64(tplCost+20*len(t.Templates())), int64(len(text))); err != nil {
			return "", err
		}
		if err := x.enter(tplDepth); err != nil {
			return "", err
		}
		defer x.leave(tplDepth)
		t = t.New(parent.Name())
		if err := x.parse(t, text); err != nil {
			return "", innermost(fmt.Errorf("cannot parse the text %q as a template: %w", shortened(text), err))
		}
		if err := x.instrument(t); err != nil {
			return "", err
		}
		out := &boundedWriter{budget: x.budget, left: mostOutput}
		if err := t.Execute(out, data); err != nil {
			return "", innermost(err)
		}
		return out.String(), nil
	}
}

// boundedWriter takes as much as is left.
type boundedWriter struct {
	*budget
	text strings.Builder
	left int
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 && w.stopped == nil {
		w.stopped = limitf("the templates render to more than %d MB", mostOutput>>20)
	}
	if err := w.spend(int64(len(p)/8), int64(len(p))); err != nil {
		return 0, err
	}
	return w.text.Write(p)
}

// String is what was written. Go prints "<no value>" for what is missing whatever
// missingkey says, and Helm takes it out.
func (w *boundedWriter) String() string { return strings.ReplaceAll(w.text.String(), "<no value>", "") }

// failed is why a template cannot be run: the place in the template that was run, and the
// message of the innermost one that it uses.
func (x *execution) failed(name string, err error) error {
	if x.stopped != nil {
		return x.stopped
	}
	e := &TemplateError{Template: name, Message: messageIn(err)}
	var chosen *chosenError
	if errors.As(err, &chosen) {
		e.Message, e.Chosen = chosen.message, true
	}
	e.locate(err)
	return e
}

// locate takes the place of an error: "template: FILE:LINE:COLUMN: …".
func (e *TemplateError) locate(err error) {
	rest, ok := strings.CutPrefix(err.Error(), "template: ")
	if !ok {
		return
	}
	place, _, _ := strings.Cut(rest, ": ")
	file, line, found := strings.Cut(place, ":")
	if !found {
		return
	}
	var n int
	if count, err := fmt.Sscanf(line, "%d", &n); count == 1 && err == nil && n > 0 {
		e.Template, e.Line = file, n
		e.Message = strings.TrimPrefix(e.Message, fmt.Sprintf("%s:%d: ", file, n)) // of one that doesn't parse
	}
}

// shortened is the first line of a text, cut where it is long.
func shortened(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if len(text) > 100 {
		return strings.ToValidUTF8(text[:100], "") + "…"
	}
	return text
}
