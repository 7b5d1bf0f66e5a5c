package main

import (
	"go/types"
	"slices"
	"strings"
)

// unused counts the exported functions, methods, types, variables and constants that the product's own code
// never uses: they are dead, or belong in a test. It does not count the api package, which other programs
// import, methods of interfaces, and packages for tests.
func unused(all []source) figure {
	asked, used := interfaceMethods(all), map[string]bool{}
	for _, s := range all {
		for _, o := range s.pkg.TypesInfo.Uses {
			if fn, ok := o.(*types.Func); ok {
				o = fn.Origin()
			}
			used[key(o)] = true
		}
	}
	var names []string
	product := linked(all)
	for _, s := range all {
		if group(s.path) == "api" || !product[s.path] {
			continue
		}
		for _, o := range s.pkg.TypesInfo.Defs {
			if o == nil || !o.Exported() || used[key(o)] {
				continue
			}
			method := receiver(o) != ""
			if method && !asked[o.Name()] || o.Parent() == s.pkg.Types.Scope() {
				names = append(names, strings.TrimPrefix(key(o), module+"/"))
			}
		}
	}
	slices.Sort(names)
	return figure{name: "exported names that only tests use", value: len(names), where: strings.Join(names, ", ")}
}

// linked returns the packages that a command links.
func linked(all []source) map[string]bool {
	imports, seen := importsOf(all), map[string]bool{}
	var visit func(string)
	visit = func(path string) {
		if !seen[path] {
			seen[path] = true
			for _, to := range imports[path] {
				visit(to)
			}
		}
	}
	for _, s := range all {
		if s.pkg.Types.Name() == "main" {
			visit(s.path)
		}
	}
	return seen
}

// interfaceMethods returns the names of the methods of all interfaces that the product declares or imports.
func interfaceMethods(all []source) map[string]bool {
	names, seen := map[string]bool{}, map[*types.Package]bool{}
	add := func(t types.Type) {
		if i, ok := t.Underlying().(*types.Interface); ok {
			for m := range i.Methods() {
				names[m.Name()] = true
			}
		}
	}
	var visit func(*types.Package)
	visit = func(p *types.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		for _, name := range p.Scope().Names() {
			if t, ok := p.Scope().Lookup(name).(*types.TypeName); ok {
				add(t.Type())
			}
		}
		for _, imported := range p.Imports() {
			visit(imported)
		}
	}
	for _, s := range all {
		visit(s.pkg.Types)
		for _, value := range s.pkg.TypesInfo.Types {
			if value.IsType() {
				add(value.Type)
			}
		}
	}
	return names
}

// key returns a name for an object that is the same in its own package and in packages that import it: package,
// receiver and name.
func key(o types.Object) string {
	if o.Pkg() == nil {
		return o.Name()
	}
	return o.Pkg().Path() + "." + receiver(o) + o.Name()
}

// receiver returns the type of a method, followed by a dot; "" if the object is not a method.
func receiver(o types.Object) string {
	fn, ok := o.(*types.Func)
	if !ok || fn.Signature().Recv() == nil {
		return ""
	}
	t := fn.Signature().Recv().Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "."
	}
	return "interface."
}
