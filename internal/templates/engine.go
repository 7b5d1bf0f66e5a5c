package templates

import (
	"context"
	"fmt"
	"text/template"
	"text/template/parse"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/located"
)

var (
	errTooDeep  = Exceeded(fmt.Sprintf("the template creates a value that is nested more than %d deep", limits.Nesting))
	errTooLarge = Exceeded(fmt.Sprintf("the template creates a value larger than %d MB", limits.TemplateOutput>>20))
	errTooLong  = Exceeded(fmt.Sprintf("the template is larger than %d MB, or has more than %d actions", limits.TemplateBytes>>20, limits.Actions))
	errNested   = Exceeded(fmt.Sprintf("templates include each other more than %d deep", limits.Includes))
)

// Engine evaluates helmfile's templates without executing, fetching or reading anything outside of
// the repository. A function that needs more (exec, environment, network) doesn't stop a template:
// it returns a mark, and every value that depends on a mark is unresolved. One such call therefore
// leaves the rest of a file readable.
type Engine struct {
	Ctx   context.Context
	Files files
	marks []located.Unknown
	index map[located.Unknown]int
	all   []string        // the paths of all files
	Reads map[string]bool // paths that the current evaluation read, and whether the files exist
	// assumptions of the current evaluation; fork is where it needs another one, nil if it doesn't.
	assumptions *Assumptions
	fork        *fork
	// explored counts the evaluations under other assumptions.
	explored int
	// seen counts the marks in the evaluation: if there are none, the result is certain.
	seen int
	// Certain is set if the last template contained no mark.
	Certain bool
	// Unit is the object that is evaluated.
	Unit bounds.Unit

	// One rendering is used for all evaluations, one after the other: the functions are bound to it
	// once.
	rendering *rendering
}

// files is the part of a repository that the engine and the readers need.
type files interface {
	ReadFile(path string) ([]byte, error)
	// Exists reports whether there is a regular file at a path.
	Exists(path string) bool
	Paths() []string
}

// rendering is the evaluation of one template and of the templates that it includes. It is not
// safe for concurrent use.
type rendering struct {
	*Engine
	dir       string
	functions template.FuncMap
	// left and right delimit actions: those of text/template, or of ResourceSets, which have no
	// helpers.
	left, right string
	// parsed are templates without helpers, by their text, and helperFiles are the helpers by folder.
	parsed      map[string]*template.Template
	helperFiles map[string][]string
	// inputs are the inputs of a ResourceSet's template.
	inputs    map[string]any
	root      *template.Template
	depth     int
	steps     steps
	elements  int
	rewritten map[*parse.Tree]bool
	// blocked lists the files that the template could not read, and the commands that are not run.
	blocked []located.Unknown
}
