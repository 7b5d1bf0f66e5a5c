package templates

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/limits"
)

// Render evaluates a template. Paths of files that it reads are relative to dir.
func (e *Engine) Render(dir, text string, data any) (string, error) {
	r := e.rendering
	if !strings.Contains(text, r.left) {
		return text, nil
	}
	r.dir, r.root, r.depth, r.steps, r.elements, r.rewritten, r.blocked = dir, nil, 0, 0, 0, map[*parse.Tree]bool{}, nil
	seen := e.seen
	out, err := r.run(text, data)
	e.Exceed(err)
	e.Certain = e.seen == seen
	if err != nil && len(r.blocked) > 0 && strings.Contains(err.Error(), "in type string") {
		// A field of a value that could not be read.
		err = &UnknownError{r.blocked[0]}
	}
	return out, err
}

// Exceed records the limit of this evaluation that an error reports, if it does.
func (e *Engine) Exceed(err error) {
	var limit *count.Error
	var own Exceeded
	if errors.As(err, &own) {
		bounds.Refuse(e.Unit, own.Error())
	}
	if errors.As(err, &limit) {
		bounds.Refuse(e.Unit, limit.Error())
	}
}

func (r *rendering) run(text string, data any) (string, error) {
	t, err := r.parse(text)
	if err != nil {
		return "", err
	}
	outer := r.root
	r.root = t
	defer func() { r.root = outer }()
	return r.execute(t, data)
}

// mostParsed is the maximum number of templates that are kept: releases share templates, and each is evaluated
// several times.
const mostParsed = 200

// parse parses a template and the helpers (_*.tpl) in its folder, as helmfile does.
func (r *rendering) parse(text string) (*template.Template, error) {
	helpers := r.helpers()
	if t, known := r.parsed[text]; known && len(helpers) == 0 {
		return t, nil
	}
	t, err := r.parseWith(helpers, text)
	if err == nil && len(helpers) == 0 && len(r.parsed) < mostParsed && len(text) < limits.TemplateBytes/64 {
		r.parsed[text] = t
	}
	return t, err
}

func (r *rendering) parseWith(helpers []string, text string) (*template.Template, error) {
	t := template.New("stringTemplate").Option("missingkey=error").Delims(r.left, r.right).Funcs(r.functions)
	for _, p := range helpers {
		data, err := r.Files.ReadFile(p)
		if err != nil {
			return nil, fmt.Errorf("the helper template %s: %w", p, err)
		}
		if t, err = r.parseInto(t, string(data)); err != nil {
			return nil, fmt.Errorf("the helper template %s: %w", p, err)
		}
	}
	return r.parseInto(t, text)
}

func (r *rendering) helpers() []string {
	found, known := r.helperFiles[r.dir]
	if known {
		return found
	}
	for _, p := range r.Paths() {
		if strings.HasSuffix(p, ".tpl") && path.Dir(p) == r.dir && strings.HasPrefix(path.Base(p), "_") {
			found = append(found, p)
		}
	}
	r.helperFiles[r.dir] = found
	return found
}

func (r *rendering) parseInto(t *template.Template, text string) (*template.Template, error) {
	if len(text) > limits.TemplateBytes || strings.Count(text, r.left) > limits.Actions {
		return nil, errTooLong
	}
	t, err := t.Parse(text)
	if err != nil {
		return nil, err
	}
	for _, each := range t.Templates() {
		if each.Tree != nil && !r.rewritten[each.Tree] {
			r.rewritten[each.Tree] = true
			rewrite(each.Root)
		}
	}
	return t, callsItself(t)
}

func (r *rendering) execute(t *template.Template, data any) (string, error) {
	if r.depth++; r.depth > limits.Includes {
		return "", errNested
	}
	defer func() { r.depth-- }()
	if err := r.steps.add(stepsOfTemplate); err != nil {
		return "", err
	}
	out := &boundedWriter{left: limits.TemplateOutput}
	err := t.Execute(out, data)
	return out.text.String(), err
}

// boundedWriter returns an error if the output exceeds its limit.
type boundedWriter struct {
	text strings.Builder
	left int
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errTooLarge
	}
	return w.text.Write(p)
}
