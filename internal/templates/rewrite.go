package templates

import (
	"fmt"
	"text/template"
	"text/template/parse"
)

// Names of the functions that rewrite adds to a template. A template could call
// them itself, which does no harm.
const conditionFunction, loopFunction = "_condition", "_loop"

// rewrite lets every condition refuse a mark, so that no branch is guessed.
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

// rewritePipe lets every "and" refuse a mark in an operand before the last, because a mark is true to the template
// although the value may not be.
func rewritePipe(pipe *parse.PipeNode) {
	if pipe == nil {
		return
	}
	for _, c := range pipe.Cmds {
		for i, arg := range c.Args {
			if inner, ok := arg.(*parse.PipeNode); ok {
				rewritePipe(inner)
			}
			if id, ok := c.Args[0].(*parse.IdentifierNode); ok && id.Ident == "and" && i > 0 && i < len(c.Args)-1 {
				decided := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: c.Pos, Args: []parse.Node{arg}}
				c.Args[i] = &parse.PipeNode{NodeType: parse.NodePipe, Pos: c.Pos, Line: pipe.Line,
					Cmds: []*parse.CommandNode{decided, command(c.Pos, conditionFunction)}}
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

// callsItself returns an error for templates that call themselves with {{template}}, which Go
// runs 100,000 levels deep. Recursion with include is counted at run time.
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
