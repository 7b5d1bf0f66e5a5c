package valueuse

import (
	"slices"
	"text/template/parse"
)

// frame is the evaluation of a template: its variables, the innermost last, and the value of $.
type frame struct {
	*analysis
	names  []string
	values []*value
	nested int
}

func (f *frame) declare(name string, v *value) {
	f.names, f.values = append(f.names, name), append(f.values, v)
}

// assign adds another possible value to a variable: which one it has depends on the executed branch.
func (f *frame) assign(name string, v *value) {
	for i := range slices.Backward(f.names) {
		if f.names[i] == name {
			f.values[i] = f.either(f.values[i], v)
			return
		}
	}
}

func (f *frame) variable(name string) *value {
	for i := range slices.Backward(f.names) {
		if f.names[i] == name {
			return f.values[i]
		}
	}
	return unknown()
}

// scoped calls run, and then removes the variables that it declared.
func (f *frame) scoped(run func()) {
	n := len(f.names)
	run()
	f.names, f.values = f.names[:n], f.values[:n]
}

func (f *frame) list(l *parse.ListNode, dot *value) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		if !f.step() {
			return
		}
		f.node(n, dot)
	}
}

func (f *frame) node(n parse.Node, dot *value) {
	switch n := n.(type) {
	case *parse.ListNode:
		f.list(n, dot)
	case *parse.ActionNode:
		v := f.pipeline(n.Pipe, dot)
		if len(n.Pipe.Decl) == 0 {
			f.consume(v)
		}
	case *parse.IfNode:
		f.branch(&n.BranchNode, dot, func(*value) *value { return dot })
	case *parse.WithNode:
		f.branch(&n.BranchNode, dot, func(v *value) *value { return v })
	case *parse.RangeNode:
		f.ranged(n, dot)
	case *parse.TemplateNode:
		with := unknown()
		if n.Pipe != nil {
			with = f.pipeline(n.Pipe, dot)
		}
		f.include(n.Name, with, f.nested)
	}
}

func (f *frame) branch(n *parse.BranchNode, dot *value, inside func(*value) *value) {
	f.scoped(func() {
		v := f.pipeline(n.Pipe, dot)
		f.touch(v, truth)
		f.scoped(func() { f.list(n.List, inside(v)) })
		f.scoped(func() { f.list(n.ElseList, dot) })
	})
}

// ranged evaluates a loop. It evaluates the body twice, because an iteration may use variables of the previous one.
func (f *frame) ranged(n *parse.RangeNode, dot *value) {
	f.scoped(func() {
		decl := n.Pipe.Decl
		bare := *n.Pipe
		bare.Decl = nil
		v := f.pipeline(&bare, dot)
		f.touch(v, truth)
		item := f.element(v)
		f.touch(item, itself)
		key := unknown()
		for _, name := range sortedKeys(v.fields) {
			f.add(key, textOf(name))
		}
		for range 2 {
			f.scoped(func() {
				if len(decl) > 1 {
					f.declare(decl[0].Ident[0], key)
				}
				if len(decl) > 0 {
					f.declare(decl[len(decl)-1].Ident[0], item)
				}
				f.list(n.List, item)
			})
		}
		f.scoped(func() { f.list(n.ElseList, dot) })
	})
}

func (f *frame) pipeline(p *parse.PipeNode, dot *value) *value {
	var v *value
	for _, c := range p.Cmds {
		if !f.step() {
			return unknown()
		}
		v = f.command(c, dot, v)
	}
	if v == nil {
		v = unknown()
	}
	for _, d := range p.Decl {
		if p.IsAssign {
			f.assign(d.Ident[0], v)
		} else {
			f.declare(d.Ident[0], v)
		}
	}
	return v
}

// command evaluates a command with the value that is piped into it, nil if there is none.
func (f *frame) command(c *parse.CommandNode, dot, piped *value) *value {
	var args []*value
	for _, n := range c.Args[1:] {
		args = append(args, f.operand(n, dot))
	}
	if piped != nil {
		args = append(args, piped)
	}
	if n, ok := c.Args[0].(*parse.IdentifierNode); ok {
		return f.call(n.Ident, args)
	}
	v := f.operand(c.Args[0], dot)
	for _, arg := range args { // arguments of a method
		f.consume(arg)
	}
	return v
}

func (f *frame) operand(n parse.Node, dot *value) *value {
	if !f.step() {
		return unknown()
	}
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return f.fields(dot, n.Ident)
	case *parse.VariableNode:
		return f.fields(f.variable(n.Ident[0]), n.Ident[1:])
	case *parse.ChainNode:
		return f.fields(f.operand(n.Node, dot), n.Field)
	case *parse.PipeNode:
		var v *value
		f.scoped(func() { v = f.pipeline(n, dot) })
		return v
	case *parse.IdentifierNode:
		return f.call(n.Ident, nil)
	case *parse.StringNode:
		f.note(n.Text)
		return textOf(n.Text)
	}
	return unknown()
}

func (f *frame) fields(v *value, names []string) *value {
	for _, name := range names {
		v = f.field(v, name)
	}
	return v
}
