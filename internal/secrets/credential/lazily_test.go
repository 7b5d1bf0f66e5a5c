package credential

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// An expression that is compiled when it is first used is not checked by a start of the command.
func TestLazyExpressionsCompile(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	compiled := 0
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if name, ok := call.Fun.(*ast.Ident); !ok || name.Name != "lazily" {
				return true
			}
			if literal, ok := call.Args[0].(*ast.BasicLit); ok {
				text, err := strconv.Unquote(literal.Value)
				if err == nil {
					_, err = regexp.Compile(text)
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				compiled++
			}
			return true
		})
	}
	forms() // which is joined from others
	if compiled < 70 {
		t.Errorf("%d expressions were found", compiled)
	}
}
