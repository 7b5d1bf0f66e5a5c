package charts

import (
	"slices"
	"strconv"
	"text/template/parse"
)

// Names of the functions that instrument adds to templates. A template that calls them itself
// is refused, as one is that calls a function that Helm doesn't have.
const (
	stepFunction  = "fleetwrightStep"
	enterFunction = "fleetwrightEnter"
	leaveFunction = "fleetwrightLeave"
	printFunction = "fleetwrightPrint"
	fileFunction  = "fleetwrightFiles"
)

var ownFunctions = []string{stepFunction, enterFunction, leaveFunction, printFunction, fileFunction}

// instrument makes a template count what it costs: each list of nodes is a step, more so the
// longer it is; the template says when it is entered and left, and how deep it nests; what
// is printed is weighed first; and so is what methods of .Files and .Values give.
func instrument(tree *parse.Tree) error {
	i := instrumenting{}
	i.list(tree.Root, 1)
	if i.deepest > mostNested {
		return limitf("a template is nested too deep")
	}
	depth := int64(i.deepest + 1)
	root := tree.Root
	root.Nodes = slices.Concat([]parse.Node{call(root.Pos, enterFunction, depth)}, root.Nodes, []parse.Node{call(root.Pos, leaveFunction, depth)})
	return nil
}

type instrumenting struct{ deepest int }

func (i *instrumenting) list(list *parse.ListNode, depth int) {
	if i.deepest = max(i.deepest, depth); list == nil || depth > mostNested {
		return
	}
	var nodes []parse.Node
	size := int64(1)
	for _, n := range list.Nodes {
		s := survey{}
		switch n := n.(type) {
		case *parse.ActionNode:
			s.pipe(n.Pipe)
			if len(n.Pipe.Decl) == 0 && !printsText(n.Pipe) {
				n.Pipe.Cmds = append(n.Pipe.Cmds, command(n.Pos, printFunction))
			}
		case *parse.TemplateNode:
			s.pipe(n.Pipe)
		case *parse.IfNode:
			i.branch(&n.BranchNode, &s, depth)
		case *parse.WithNode:
			i.branch(&n.BranchNode, &s, depth)
		case *parse.RangeNode:
			i.branch(&n.BranchNode, &s, depth)
		}
		size += s.size
		if s.files > 0 {
			nodes = append(nodes, call(n.Position(), fileFunction, s.files))
		}
		nodes = append(nodes, n)
	}
	list.Nodes = append([]parse.Node{call(list.Pos, stepFunction, size)}, nodes...)
}

func (i *instrumenting) branch(b *parse.BranchNode, s *survey, depth int) {
	s.pipe(b.Pipe)
	if b.List == nil {
		b.List = &parse.ListNode{NodeType: parse.NodeList, Pos: b.Pos}
	}
	i.list(b.List, depth+1)
	i.list(b.ElseList, depth+1)
}

// textFunctions give a text, so that there is nothing to weigh when they are printed.
var textFunctions = map[string]bool{
	"include": true, "tpl": true, "toYaml": true, "toJson": true, "quote": true, "squote": true, "indent": true, "nindent": true,
	"trim": true, "trunc": true, "trimSuffix": true, "b64enc": true, "lower": true, "upper": true, "printf": true, "replace": true,
}

func printsText(pipe *parse.PipeNode) bool {
	last := pipe.Cmds[len(pipe.Cmds)-1]
	id, ok := last.Args[0].(*parse.IdentifierNode)
	return ok && textFunctions[id.Ident]
}

// survey counts the nodes of expressions, and the calls of methods that cost.
type survey struct{ size, files int64 }

func (s *survey) pipe(pipe *parse.PipeNode) {
	if pipe == nil {
		return
	}
	for _, cmd := range pipe.Cmds {
		for _, arg := range cmd.Args {
			s.node(arg)
		}
	}
}

func (s *survey) node(n parse.Node) {
	s.size++
	switch n := n.(type) {
	case *parse.PipeNode:
		s.pipe(n)
	case *parse.FieldNode:
		s.idents(n.Ident)
	case *parse.VariableNode:
		s.idents(n.Ident)
	case *parse.ChainNode:
		s.idents(n.Field)
		s.node(n.Node)
	}
}

// idents counts the methods of .Files and of .Values that go through all of a value.
func (s *survey) idents(names []string) {
	s.size += int64(len(names))
	for _, name := range names {
		switch name {
		case "AsConfig", "AsSecrets", "Glob", "Lines", "YAML":
			s.files++
		}
	}
}

// call is an action that calls one of our functions with a number. It prints nothing.
func call(pos parse.Pos, function string, n int64) parse.Node {
	cmd := command(pos, function)
	cmd.Args = append(cmd.Args, &parse.NumberNode{NodeType: parse.NodeNumber, Pos: pos, IsInt: true, Int64: n, Text: strconv.FormatInt(n, 10)})
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: pos, Pipe: &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{cmd}}}
}

func command(pos parse.Pos, function string) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: []parse.Node{parse.NewIdentifier(function).SetPos(pos)}}
}
