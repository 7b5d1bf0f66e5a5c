package templates

import (
	"context"
	"fmt"
	"text/template"
	"text/template/parse"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/located"
)

// Bounds of templates, their texts and their output: exact, and cheap to count. A real values
// template renders a few kilobytes. What an evaluation takes is measured: see [reader.measured].
const (
	maxTemplateBytes   = 1 << 20
	maxTemplateActions = 20_000
	maxTextBytes       = 8 << 20
	MaxValueDepth      = 300
	maxIncludeDepth    = 50
)

const (
	errTooLarge Exceeded = "the template makes a value larger than a bootstrap needs"
	errTooDeep  Exceeded = "the template makes a value that is nested too deep"
)

var errNested = Exceeded(fmt.Sprintf("templates include each other more than %d deep", maxIncludeDepth))

// Engine evaluates helmfile's templates without executing, fetching or reading
// anything outside of the repository. What a template may not do here (exec,
// environment, network) doesn't stop it: the function returns a mark, and what
// is made of a mark is unresolved. So one such call leaves the rest of a file
// readable.
type Engine struct {
	Ctx   context.Context
	Files files
	marks []located.Unknown
	index map[located.Unknown]int
	all   []string        // paths
	Reads map[string]bool // of the evaluation under way: path → exists
	// assumptions is what the evaluation under way takes for granted, and fork where it needs to know
	// more, nil where it doesn't.
	assumptions *Assumptions
	fork        *fork
	// explored counts the evaluations under other assumptions.
	explored int
	// seen counts the marks that the evaluation met: without one, what it comes to is certain.
	seen int
	// Certain says that the last template met no mark.
	Certain bool
	// Unit is what is evaluated.
	Unit bounds.Unit

	// One rendering serves all evaluations, one after the other: the functions
	// are bound to it once.
	rendering *rendering
}

// files is what the engine and the readers need of a repository.
type files interface {
	ReadFile(path string) ([]byte, error)
	// Exists says whether there is a regular file.
	Exists(path string) bool
	Paths() []string
}

// rendering is the evaluation of one template and of what it includes. It is not
// for concurrent use.
type rendering struct {
	*Engine
	dir       string
	functions template.FuncMap
	// left and right delimit actions: those of text/template, or of ResourceSets, which have no
	// helpers.
	left, right string
	// parsed are templates without helpers, by their texts, and beside the helpers by folder.
	parsed map[string]*template.Template
	beside map[string][]string
	// inputs are those of a ResourceSet's template.
	inputs    map[string]any
	root      *template.Template
	depth     int
	rewritten map[*parse.Tree]bool
	out       *boundedWriter // of the outermost template
	// log holds the files that the template read, each with the number of bytes that
	// it had written before, and blocked says which it could not read.
	log     []ReadAt
	blocked []located.Unknown
}
