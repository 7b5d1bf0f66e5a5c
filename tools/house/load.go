package main

import (
	"fmt"
	"go/ast"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// source is a package of the project, without its tests.
type source struct {
	path  string // below the module: internal/tree
	pkg   *packages.Package
	files map[string]*ast.File // by name
	lines map[string]int       // by name
	dir   string
}

const module = "github.com/fleetwright/fleetwright"

// load type-checks the packages of the product.
func load(root string) ([]source, error) {
	all, err := packages.Load(&packages.Config{
		Dir:        root,
		BuildFlags: []string{"-tags=disable_grpc_modules"},
		Mode:       packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedExportFile,
	}, "./...")
	if err != nil {
		return nil, err
	}
	var sources []source
	for _, p := range all {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0])
		}
		path := strings.TrimPrefix(strings.TrimPrefix(p.PkgPath, module), "/")
		if strings.HasPrefix(path, "tools/") || strings.HasPrefix(path, "examples") {
			continue
		}
		s := source{path: path, pkg: p, files: map[string]*ast.File{}, lines: map[string]int{}}
		for _, f := range p.Syntax {
			file := p.Fset.File(f.Pos())
			s.dir = filepath.Dir(file.Name())
			name := filepath.Base(file.Name())
			s.files[name], s.lines[name] = f, file.LineCount()
		}
		sources = append(sources, s)
	}
	return sources, nil
}
