package valueuse

import (
	"maps"
	"strings"
)

// function returns the possible results of a template function, and records which values it reads. It returns nil for arguments
// that the function does not accept.
type function func(f *frame, args []*value) *value

// call returns the possible results of a function. An unknown function reads all of its arguments completely.
func (f *frame) call(name string, args []*value) *value {
	if run, ok := f.functions[name]; ok {
		if v := run(f, args); v != nil {
			return v
		}
	}
	for _, arg := range args {
		f.consume(arg)
	}
	return unknown()
}

// newFunctions returns the functions that do not read all of their arguments completely.
func newFunctions() map[string]function {
	all := map[string]function{
		"include": including, "tpl": templated,
		"set": set, "get": indexed, "index": indexed, "dig": dug, "hasKey": hasKey, "dict": dict, "list": list, "tuple": list,
		"keys": keysOf, "len": keysOf, "values": valuesOf, "first": elements, "last": elements, "pluck": plucked,
		"append": extended, "prepend": extended, "push": extended,
		"pick": firstOf, "omit": firstOf, "unset": firstOf,
		"deepCopy": copied, "rest": either, "initial": either, "reverse": either, "concat": either, "compact": either,
		"default": chosen, "coalesce": chosen, "ternary": chosen, "and": chosen, "or": chosen, "required": required,
		"merge": merged, "mergeOverwrite": merged,
		"not": asked, "empty": asked,
		"kindIs": typed, "kindOf": typed, "typeIs": typed, "typeOf": typed, "typeIsLike": typed,
	}
	for _, name := range []string{"deepCopy", "merge", "mergeOverwrite", "append", "prepend", "push", "first", "last", "rest", "initial", "reverse", "compact"} {
		all["must"+strings.ToUpper(name[:1])+name[1:]] = all[name]
	}
	return all
}

func either(f *frame, args []*value) *value {
	if len(args) == 0 {
		return nil
	}
	return f.either(args...)
}

// copied returns a copy of the argument.
func copied(_ *frame, args []*value) *value {
	if len(args) != 1 {
		return nil
	}
	v := *args[0]
	v.fields, v.fresh = maps.Clone(v.fields), true
	return &v
}

// firstOf is for functions that select or remove keys of their first argument, such as omit. It returns that argument with
// all its keys, and records that the other arguments are read.
func firstOf(f *frame, args []*value) *value {
	if len(args) == 0 {
		return nil
	}
	for _, arg := range args[1:] {
		f.consume(arg)
	}
	return args[0]
}

// chosen is for functions that return one of their arguments, depending on which are empty, such as default. It returns a
// value that may be any of the arguments.
func chosen(f *frame, args []*value) *value {
	for _, arg := range args {
		f.touch(arg, truth)
	}
	return either(f, args)
}

// asked is for functions that check whether their arguments are empty, such as not.
func asked(f *frame, args []*value) *value {
	for _, arg := range args {
		f.touch(arg, truth)
	}
	return unknown()
}

// typed is for functions that check the types of their arguments, such as kindIs.
func typed(f *frame, args []*value) *value {
	for _, arg := range args {
		f.touch(arg, itself)
	}
	return unknown()
}

func required(f *frame, args []*value) *value {
	if len(args) != 2 {
		return nil
	}
	f.consume(args[0])
	return chosen(f, args[1:])
}

func indexed(f *frame, args []*value) *value {
	if len(args) == 0 {
		return nil
	}
	v := args[0]
	for _, key := range args[1:] {
		v = f.index(v, key)
	}
	return v
}

// dug is for the function dig KEY… DEFAULT DICT. It returns the value at a path of keys in a map, or the default.
func dug(f *frame, args []*value) *value {
	if len(args) < 3 {
		return nil
	}
	v := args[len(args)-1]
	for _, key := range args[:len(args)-2] {
		v = f.index(v, key)
	}
	f.touch(v, truth)
	return f.either(v, args[len(args)-2])
}

func hasKey(f *frame, args []*value) *value {
	if len(args) != 2 {
		return nil
	}
	f.touch(f.index(args[0], args[1]), itself)
	return unknown()
}

func plucked(f *frame, args []*value) *value {
	if len(args) == 0 {
		return nil
	}
	all := &value{}
	for _, arg := range args[1:] {
		f.add(all, f.index(arg, args[0]))
	}
	return &value{item: all}
}

// keysOf is for functions that read the keys of their arguments but not the values, such as keys and len.
func keysOf(f *frame, args []*value) *value {
	names := unknown()
	for _, arg := range args {
		f.touch(f.element(arg), itself)
		f.touch(arg, truth)
	}
	return &value{item: names, other: true}
}

// elements is for functions that return an element of their argument, such as first. It returns a value that may be any element.
func elements(f *frame, args []*value) *value {
	all := &value{other: true}
	for _, arg := range args {
		item := f.element(arg)
		f.touch(item, itself)
		f.add(all, item)
	}
	return all
}

func valuesOf(f *frame, args []*value) *value { return &value{item: elements(f, args)} }

func list(f *frame, args []*value) *value {
	all := &value{other: true}
	for _, arg := range args {
		f.add(all, arg)
	}
	return &value{item: all}
}

func extended(f *frame, args []*value) *value {
	if len(args) != 2 {
		return nil
	}
	return f.either(args[0], &value{item: args[1]})
}

func dict(f *frame, args []*value) *value {
	v := &value{fields: map[string]*value{}}
	for i := 0; i+1 < len(args); i += 2 {
		f.put(v, args[i], args[i+1])
	}
	return v
}

// put adds an item to a map that a template creates, and to the maps that it was created from.
func (f *frame) put(v, key, item *value) {
	names, known := key.named()
	if !known {
		f.consume(key)
	}
	seen := map[*value]bool{}
	var into func(v *value)
	into = func(v *value) {
		if seen[v] || !f.step() {
			return
		}
		seen[v] = true
		if !known {
			f.addItem(v, item)
		}
		for _, name := range names {
			f.addField(v, name, item)
		}
		for _, part := range v.from {
			into(part)
		}
	}
	into(v)
}

// set is set DICT KEY VALUE, which changes the map.
func set(f *frame, args []*value) *value {
	if len(args) != 3 {
		return nil
	}
	into, key, item := args[0], args[1], args[2]
	names, known := key.named()
	if into.fresh || len(into.paths)+len(into.roots) == 0 || into.fields != nil || into.item != nil || into.from != nil {
		f.changed++
		f.put(into, key, item)
	}
	if !known && !into.fresh && len(into.paths)+len(into.roots) > 0 {
		f.consume(key)
		f.consume(item)
	}
	for _, p := range into.paths {
		for _, name := range names {
			if !into.fresh {
				f.holds(p.child(name), item)
			}
		}
	}
	for _, prefix := range into.roots {
		for _, name := range names {
			if name == "Values" {
				f.holds(prefix, item)
			} else {
				f.addRootField(name, item)
			}
		}
	}
	return into
}

// merged returns the first map, into which the others are merged.
func merged(f *frame, args []*value) *value {
	if len(args) == 0 {
		return nil
	}
	into := args[0]
	for _, other := range args[1:] {
		for _, p := range into.paths {
			if !into.fresh {
				f.holds(p, other)
			}
		}
		if len(into.roots) > 0 {
			for _, name := range sortedKeys(other.fields) {
				f.addRootField(name, other.fields[name])
			}
			f.consume(&value{paths: other.paths, item: other.item})
		}
		if into.fields != nil || into.item != nil || into.from != nil {
			f.changed++
		}
		f.mergeInto(into, other)
	}
	return into
}

// mergeInto adds the possible values of another map to a map and to the maps that it was created from.
func (f *frame) mergeInto(into, other *value) {
	seen := map[*value]bool{}
	var add func(v *value)
	add = func(v *value) {
		if seen[v] || v == other || !f.step() {
			return
		}
		seen[v] = true
		parts := v.from
		f.add(v, other)
		for _, part := range parts {
			add(part)
		}
	}
	add(into)
}

// templated is tpl TEXT CONTEXT. A known text is evaluated with the context. If the text is unknown, so are the values that it
// reads: then all names in strings that are evaluated as templates count as read.
func templated(f *frame, args []*value) *value {
	if len(args) != 2 {
		return nil
	}
	f.consume(args[0])
	for text := range args[0].consts {
		f.inline(text, args[1])
	}
	context := *args[1]
	fields := context.fields
	context.roots, context.fields = nil, nil
	f.consume(&context)
	for _, field := range fields {
		if len(field.roots) == 0 {
			f.consume(field)
		}
	}
	return unknown()
}

// including is include NAME CONTEXT. An unknown name may be any template.
func including(f *frame, args []*value) *value {
	if len(args) != 2 {
		return nil
	}
	names, known := args[0].named()
	if !known {
		f.consume(args[0])
		names = sortedKeys(f.defined)
	}
	for _, name := range names {
		f.include(name, args[1], f.nested)
	}
	return unknown()
}
