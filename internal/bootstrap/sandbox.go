package bootstrap

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/count"
)

// Bounds of templates, their texts and their output: exact, and cheap to count. A real values
// template renders a few kilobytes. What an evaluation takes is measured: see [reader.measured].
const (
	maxTemplateBytes   = 1 << 20
	maxTemplateActions = 20_000
	maxTextBytes       = 8 << 20
	maxValueDepth      = 300
	maxIncludeDepth    = 50
)

var (
	errTooLarge = errors.New("the template makes a value larger than a bootstrap needs")
	errTooDeep  = errors.New("the template makes a value that is nested too deep")
	errNested   = fmt.Errorf("templates include each other more than %d deep", maxIncludeDepth)
)

// engine evaluates helmfile's templates without executing, fetching or reading
// anything outside of the repository. What a template may not do here (exec,
// environment, network) doesn't stop it: the function returns a mark, and what
// is made of a mark is unresolved. So one such call leaves the rest of a file
// readable.
type engine struct {
	ctx   context.Context
	files files
	marks []mark
	index map[mark]int
	all   []string        // paths
	reads map[string]bool // of the evaluation under way: path → exists
	// world is what the evaluation under way takes for granted, and fork where it needs to know
	// more, nil where it doesn't.
	world *world
	fork  *fork
	// explored counts the evaluations for the sake of other worlds.
	explored int
	// seen counts the marks that the evaluation met: without one, what it comes to is certain.
	seen int
	// certain says that the last template met no mark.
	certain bool
	// unit is what is evaluated.
	unit bounds.Unit
	// checked are what helmfile says of the fields of texts, by their digests.
	checked map[[sha256.Size]byte]error

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

// mark says why a value could not be computed.
type mark struct {
	reason string
	// missing is the file whose absence is the reason, "" for another reason.
	missing string
	// stops says that a template certainly fails, so that the tool stops there.
	stops bool
	// variable is the environment variable whose value this is, "" of anything else.
	variable string
	// expression tells apart what functions make of a mark, and negated a condition's contrary.
	expression string
	negated    bool
}

func newEngine(ctx context.Context, f files) *engine {
	e := &engine{ctx: ctx, files: f, index: map[mark]int{}, reads: map[string]bool{}, checked: map[[sha256.Size]byte]error{}}
	e.rendering = &rendering{engine: e, left: "{{", right: "}}", parsed: map[string]*template.Template{}, beside: map[string][]string{}}
	e.rendering.functions = e.rendering.bind()
	return e
}

// A mark in a text is a number in private use characters, so that no text that a
// person wrote looks like one, no pattern for digits or letters changes one, and
// YAML and JSON pass it through.
const (
	markOpen, markClose = "\ue0f7", "\ue0f8"
	markZero            = '\ue100' // and nine more
)

// mark returns the text that stands for a value that cannot be computed.
func (e *engine) mark(m mark) string {
	e.seen++
	i, known := e.index[m]
	if !known {
		i = len(e.marks)
		e.marks = append(e.marks, m)
		e.index[m] = i
	}
	var b strings.Builder
	b.WriteString(markOpen)
	for _, digit := range strconv.Itoa(i) {
		b.WriteRune(markZero + digit - '0')
	}
	b.WriteString(markClose)
	return b.String()
}

// marked returns the first mark in a text.
func (e *engine) marked(s string) (mark, bool) {
	_, rest, found := strings.Cut(s, markOpen)
	if !found {
		return mark{}, false
	}
	e.seen++
	number, _, _ := strings.Cut(rest, markClose)
	i := 0
	for _, digit := range number {
		if i = i*10 + int(digit-markZero); digit < markZero || digit > markZero+9 || i >= len(e.marks) {
			return mark{reason: "the text around an unknown value is cut"}, true
		}
	}
	if number == "" {
		return mark{reason: "the text around an unknown value is cut"}, true
	}
	return e.marks[i], true
}

// wholly says whether a text is nothing but marks.
func wholly(s string) bool {
	return strings.HasPrefix(s, markOpen) && anyMark.ReplaceAllString(s, "") == ""
}

var anyMark = regexp.MustCompile(markOpen + `[\x{e100}-\x{e109}]*` + markClose)

// unescapedMarks undoes what quoting makes of marks.
var unescapedMarks = func() *strings.Replacer {
	pairs := []string{`\ue0f7`, markOpen, `\ue0f8`, markClose}
	for i := range 10 {
		pairs = append(pairs, fmt.Sprintf(`\ue10%d`, i), string(rune(markZero+i)))
	}
	return strings.NewReplacer(pairs...)
}()

// render evaluates a template text. Files that it reads are relative to dir.
func (e *engine) render(dir, text string, data any) (string, error) {
	r := e.rendering
	if !strings.Contains(text, r.left) {
		return text, nil
	}
	r.dir, r.root, r.depth, r.rewritten, r.out, r.log, r.blocked = dir, nil, 0, map[*parse.Tree]bool{}, nil, nil, nil
	seen := e.seen
	out, err := r.run(text, data)
	e.exceed(err)
	e.certain = e.seen == seen
	if err != nil && len(r.blocked) > 0 && strings.Contains(err.Error(), "in type string") {
		// A field of what could not be read.
		err = &unknownError{r.blocked[0]}
	}
	return out, err
}

// exceed notes that what is evaluated goes beyond a bound of this evaluation, where an error says so.
func (e *engine) exceed(err error) {
	var limit *count.Error
	for _, bound := range ownBounds {
		if errors.Is(err, bound) {
			bounds.Refuse(e.unit, bound.Error())
		}
	}
	if errors.As(err, &limit) {
		bounds.Refuse(e.unit, limit.Error())
	}
}

// rendering is the evaluation of one template and of what it includes. It is not
// for concurrent use.
type rendering struct {
	*engine
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
	log     []readAt
	blocked []mark
}

// readAt is a file that a template read once it had written so many bytes.
type readAt struct {
	path  string
	after int
}

// noteRead notes a file that the template under way reads.
func (r *rendering) noteRead(p string) {
	if r.out != nil {
		r.log = append(r.log, readAt{p, r.out.text.Len()})
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

// mostParsed bounds the templates that are kept: releases share theirs, and each is evaluated
// several times.
const mostParsed = 200

// parse reads a template and the helpers (_*.tpl) beside it, as helmfile does.
func (r *rendering) parse(text string) (*template.Template, error) {
	helpers := r.helpers()
	if t, known := r.parsed[text]; known && len(helpers) == 0 {
		return t, nil
	}
	t, err := r.parseWith(helpers, text)
	if err == nil && len(helpers) == 0 && len(r.parsed) < mostParsed && len(text) < maxTemplateBytes/64 {
		r.parsed[text] = t
	}
	return t, err
}

func (r *rendering) parseWith(helpers []string, text string) (*template.Template, error) {
	t := template.New("stringTemplate").Option("missingkey=error").Delims(r.left, r.right).Funcs(r.functions)
	for _, p := range helpers {
		data, err := r.files.ReadFile(p)
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
	found, known := r.beside[r.dir]
	if known {
		return found
	}
	for _, p := range r.paths() {
		if strings.HasSuffix(p, ".tpl") && path.Dir(p) == r.dir && strings.HasPrefix(path.Base(p), "_") {
			found = append(found, p)
		}
	}
	r.beside[r.dir] = found
	return found
}

// paths of all files, listed once.
func (e *engine) paths() []string {
	if e.all == nil {
		e.all = e.files.Paths()
	}
	return e.all
}

func (r *rendering) parseInto(t *template.Template, text string) (*template.Template, error) {
	if len(text) > maxTemplateBytes || strings.Count(text, r.left) > maxTemplateActions {
		return nil, errTooLarge
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
	if r.depth++; r.depth > maxIncludeDepth {
		return "", errNested
	}
	defer func() { r.depth-- }()
	out := &boundedWriter{left: maxTextBytes}
	if r.out == nil {
		r.out = out
	}
	err := t.Execute(out, data)
	return out.text.String(), err
}

// boundedWriter refuses more output than its bound.
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

// Names of the functions that rewrite adds to a template. A template could call
// them itself, which does no harm.
const conditionFunction, eitherFunction, loopFunction = "_condition", "_either", "_loop"

// rewrite makes every condition decide or refuse a mark, so that no branch is guessed.
func rewrite(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			rewritePipe(n.Pipe)
		case *parse.TemplateNode:
			rewritePipe(n.Pipe)
		case *parse.IfNode:
			rewriteBranch(&n.BranchNode, conditionFunction)
		case *parse.WithNode:
			rewriteBranch(&n.BranchNode, conditionFunction)
		case *parse.RangeNode:
			rewriteBranch(&n.BranchNode, loopFunction)
		}
	}
}

// rewritePipe makes every and, and every or, decide a mark in front of its last argument, since
// a mark is true to the template and the value may not be: and refuses one that it cannot decide,
// or is one then.
func rewritePipe(pipe *parse.PipeNode) {
	if pipe == nil {
		return
	}
	for _, c := range pipe.Cmds {
		for i, arg := range c.Args {
			if inner, ok := arg.(*parse.PipeNode); ok {
				rewritePipe(inner)
			}
			id, ok := c.Args[0].(*parse.IdentifierNode)
			function := map[string]string{"and": conditionFunction, "or": eitherFunction}
			if ok && function[id.Ident] != "" && i > 0 && i < len(c.Args)-1 {
				decided := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: c.Pos, Args: []parse.Node{arg}}
				c.Args[i] = &parse.PipeNode{NodeType: parse.NodePipe, Pos: c.Pos, Line: pipe.Line,
					Cmds: []*parse.CommandNode{decided, command(c.Pos, function[id.Ident])}}
			}
		}
	}
}

func rewriteBranch(b *parse.BranchNode, function string) {
	rewritePipe(b.Pipe)
	if b.Pipe != nil {
		b.Pipe.Cmds = append(b.Pipe.Cmds, command(b.Pos, function))
	}
	rewrite(b.List)
	rewrite(b.ElseList)
}

func command(pos parse.Pos, function string) *parse.CommandNode {
	id := parse.NewIdentifier(function).SetPos(pos)
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: []parse.Node{id}}
}

// callsItself refuses templates that reach themselves by {{template}}, which Go
// runs 100,000 levels deep. Recursion by include is counted when it runs.
func callsItself(t *template.Template) error {
	calls := map[string][]string{}
	for _, each := range t.Templates() {
		if each.Tree != nil {
			calls[each.Name()] = called(each.Root, nil)
		}
	}
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(string) error
	visit = func(name string) error {
		switch state[name] {
		case open:
			return fmt.Errorf("the template %q calls itself", name)
		case done:
			return nil
		}
		state[name] = open
		for _, next := range calls[name] {
			if err := visit(next); err != nil {
				return err
			}
		}
		state[name] = done
		return nil
	}
	for _, each := range t.Templates() {
		if err := visit(each.Name()); err != nil {
			return err
		}
	}
	return nil
}

func called(list *parse.ListNode, names []string) []string {
	if list == nil {
		return names
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TemplateNode:
			names = append(names, n.Name)
		case *parse.IfNode:
			names = called(n.ElseList, called(n.List, names))
		case *parse.WithNode:
			names = called(n.ElseList, called(n.List, names))
		case *parse.RangeNode:
			names = called(n.ElseList, called(n.List, names))
		}
	}
	return names
}
