package charts

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// LimitError reports that a hostile input, or one larger than any known, is not rendered. It says nothing about whether
// Flux could render it.
type LimitError struct{ What string }

func (e *LimitError) Error() string { return e.What }

func limitf(format string, args ...any) *LimitError {
	return &LimitError{What: fmt.Sprintf(format, args...)}
}

// TemplateError is why a template fails.
type TemplateError struct {
	// Template is its file, such as "podinfo/templates/service.yaml"; Line is 0 if unknown.
	Template string
	Line     int
	Message  string
	// Chosen reports whether the chart itself refuses, by fail or required.
	Chosen bool
}

func (e *TemplateError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Template, e.Message)
	}
	return fmt.Sprintf("%s:%d: %s", e.Template, e.Line, e.Message)
}

// execution is one run of the templates of a chart.
type execution struct {
	rand    *rand.Rand
	steady  bool
	lookups int
	// drawn is the length of all random strings, and spent that of all strings that were run repeatedly, created or
	// printed.
	drawn, spent int
	// defined is the number of templates that the texts define.
	defined int
	// chosen is the chart's own message, from fail or required.
	chosen *chosenError
}

// execute runs the templates of a chart and its dependencies with Helm's engine, and returns their output by path. The
// values contain the fields that a template sees: Values, Release, Capabilities. Random functions depend on the seed and the calls
// before, or, if steady is set, only on the call. execute changes the templates.
func execute(c *chart.Chart, top common.Values, seed string, steady bool) (map[string]string, *execution, error) {
	x := &execution{rand: newRandom(seed), steady: steady}
	sources := map[string]string{}
	collect(c, sources)
	if err := x.boundTemplates(c); err != nil {
		return nil, x, err
	}
	texts, err := engine.Engine{CustomTemplateFuncs: x.functions()}.Render(c, top)
	if err != nil {
		return nil, x, x.failed(err, sources)
	}
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	if size > limits.ChartOutput {
		return nil, x, limitf("the rendered templates are larger than %d MB", limits.ChartOutput>>20)
	}
	return texts, x, nil
}

// collect adds the templates of a chart and its dependencies by their paths in Helm.
func collect(c *chart.Chart, into map[string]string) {
	for _, t := range c.Templates {
		if t != nil {
			into[path.Join(c.ChartFullPath(), t.Name)] = string(t.Data)
		}
	}
	for _, child := range c.Dependencies() {
		collect(child, into)
	}
}

// placed matches an error of the engine that begins with its place: of a template that fails, in the form of
// text/template or of Helm, or of one that doesn't parse.
var placed = regexp.MustCompile(`(?s)^(template: |parse error at \(|execution error at \(|)(.+?):(\d+)(?::\d+)?\)?(?:: |\n)(.*)$`)

// failed returns why the engine cannot run templates: the place in the template that was run, and the message of the
// innermost template that it uses.
func (x *execution) failed(err error, sources map[string]string) error {
	var limit *LimitError
	if errors.As(err, &limit) {
		return limit
	}
	parts := placed.FindStringSubmatch(err.Error())
	if parts == nil {
		return err
	}
	e := &TemplateError{Template: parts[2], Message: strings.TrimSpace(parts[4])}
	e.Line, _ = strconv.Atoi(parts[3]) // digits
	var outer template.ExecError
	switch {
	case x.chosen != nil:
		e.Message, e.Chosen = x.chosen.message, true
	case errors.As(err, &outer):
		e.Message = innermost(outer)
	case parts[1] == "":
		e.Message = reformatted(e.Message)
	case strings.HasPrefix(parts[1], "parse"):
		e.Line, e.Message = unparsed(e.Template, sources[e.Template], e.Line, e.Message)
	}
	return e
}

// innermost returns the message of a template's error without its place; if templates include each other, that of the
// innermost.
func innermost(outer template.ExecError) string {
	calls, cause := functionOf(outer)
	message, inner := calls+cause, outer
	for errors.As(inner.Err, &inner) {
		own, cause := functionOf(inner)
		message = calls + own + cause
	}
	return shortenTpl(message)
}

// functionOf returns the parts of the message after "template: FILE:LINE:COLUMN: executing "NAME" at <NODE>: ": "error
// calling FUNCTION: " and the function's error, or everything as the error.
func functionOf(e template.ExecError) (calls, cause string) {
	text := e.Error()
	if err := errors.Unwrap(e.Err); err != nil {
		cause = err.Error()
		calls = strings.TrimSuffix(text, cause)
		if i := strings.LastIndex(calls, ">: "); i >= 0 {
			calls = calls[i+len(">: "):]
		}
		return calls, cause
	}
	if _, message, found := strings.Cut(text, ">: "); found {
		return "", message
	}
	return "", strings.TrimPrefix(text, "template: ")
}

// reformatted is innermost for Helm's form of an error of text/template itself: for each template, the outermost first,
// "PLACE\n  executing "NAME" at <NODE>:\n    MESSAGE\n".
func reformatted(text string) string {
	const at = ">:\n    "
	_, outer, _ := strings.Cut(text, at)
	inner := text[strings.LastIndex(text, at)+len(at):]
	if calls, _, nested := strings.Cut(outer, ":\n"); nested && strings.HasPrefix(calls, "error calling ") {
		return calls + ": " + strings.TrimPrefix(strings.TrimPrefix(inner, calls+":\n"), "template: ")
	}
	return inner
}

// unparsed returns where and why a text doesn't parse as its author wrote it. The passed line and message are about the
// text with the inserted calls, and Helm keeps only the part of the message after the last colon.
func unparsed(name, text string, line int, message string) (int, string) {
	if strings.HasSuffix(message, " not defined") { // an undefined function, for which this doesn't search
		return line, message
	}
	tree := parse.New(name)
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(text, "", "", map[string]*parse.Tree{}); err != nil {
		if parts := placed.FindStringSubmatch(err.Error()); parts != nil {
			line, _ = strconv.Atoi(parts[3]) // digits
			message = parts[4]
		}
	}
	return line, message
}

// shortenTpl shortens the text that tpl runs in the message of a text that doesn't parse: Helm quotes all of it.
func shortenTpl(message string) string {
	before, after, found := strings.Cut(message, "cannot parse template ")
	quoted, err := strconv.QuotedPrefix(after)
	if !found || err != nil {
		return message
	}
	bounded, _ := strconv.Unquote(quoted) // it is quoted
	text, why := unbounded(bounded), after[len(quoted):]
	if parts := placed.FindStringSubmatch(strings.TrimPrefix(why, ": ")); parts != nil {
		line, _ := strconv.Atoi(parts[3]) // digits
		line, reason := unparsed(parts[2], text, line, parts[4])
		why = fmt.Sprintf(": template: %s:%d: %s", parts[2], line, reason)
	}
	return fmt.Sprintf("%scannot parse the text %q as a template%s", before, shortened(text), why)
}

// shortened returns the first line of a text, cut if it is long.
func shortened(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if len(text) > 100 {
		return strings.ToValidUTF8(text[:100], "") + "…"
	}
	return text
}
