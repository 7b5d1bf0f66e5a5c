package templates

import (
	"context"
	"text/template"

	"github.com/fleetwright/fleetwright/internal/located"
)

// New returns an engine that evaluates the templates of helmfiles in a repository.
func New(ctx context.Context, f files) *Engine {
	e := &Engine{Ctx: ctx, Files: f, index: map[located.Unknown]int{}, Reads: map[string]bool{}}
	e.rendering = &rendering{Engine: e, left: "{{", right: "}}", parsed: map[string]*template.Template{}, helperFiles: map[string][]string{}}
	e.rendering.functions = e.rendering.bind()
	return e
}
