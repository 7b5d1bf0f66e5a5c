package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// mostFiles is how many files a path leads through.
const mostFiles = 25

// TestPaths: each function of the paths in CONTRIBUTING.md is in its file, and names the one below it.
func TestPaths(t *testing.T) {
	page, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## Three paths")
	section, _, _ = strings.Cut(section, "\n## ")
	paths := strings.Split(section, "```text\n")[1:]
	if len(paths) != 3 {
		t.Fatalf("%d paths", len(paths))
	}
	for _, drawn := range paths {
		drawn, _, _ = strings.Cut(drawn, "```")
		files := map[string]bool{}
		var callers []map[string]bool // by indentation: what the function names
		for line := range strings.Lines(drawn) {
			depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
			names, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
			file = strings.TrimSpace(file)
			files[file] = true
			callers = callers[:min(depth, len(callers))]
			for name := range strings.SplitSeq(names, " > ") {
				named, isFunction := namesIn(t, file, name)
				if named == nil {
					t.Errorf("%s has no %s", file, name)
				}
				_, short, found := strings.Cut(name, ".")
				if !found {
					short = name
				}
				if isFunction && len(callers) > 0 && !callers[len(callers)-1][short] {
					t.Errorf("what is above %s in %s does not name it", name, file)
				}
				if len(callers) > depth {
					callers = callers[:depth]
				}
				callers = append(callers, named)
			}
		}
		if len(files) > mostFiles {
			t.Errorf("a path leads through %d files, want at most %d", len(files), mostFiles)
		}
	}
}

// namesIn returns the names in the function or variable of a file, and whether it is a function; nil if the file has none.
func namesIn(t *testing.T, file, name string) (map[string]bool, bool) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), "../"+file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		f, isFunction := d.(*ast.FuncDecl)
		if isFunction && calledIn(f) != name || !isFunction && d.(*ast.GenDecl).Tok != token.VAR {
			continue
		}
		named := map[string]bool{}
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				named[id.Name] = true
			}
			return true
		})
		if isFunction || named[name] {
			return named, isFunction
		}
	}
	return nil, false
}

// calledIn returns the name of a function: TYPE.NAME of a method.
func calledIn(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	return of.(*ast.Ident).Name + "." + f.Name.Name
}
