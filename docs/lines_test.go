// Package docs_test checks pages that no generator writes.
package docs_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the counts of lines.md")

// scripts is the test of the scripts of the command, and the folder of its package.
const scripts, command = "TestScripts", "cmd/fleetwright"

var (
	test     = regexp.MustCompile("`(Test\\w+)(?:/([^`]+))?`(?: of `([^`]+)`)?")
	examples = regexp.MustCompile("the examples of `([^`]+)`")
)

// row is a line of a table, in a section whose tests are in a package.
type row struct{ line, tests string }

type section struct {
	title, pkg string
	rows       []row
}

// TestLines: each line is there once and has a test that exists, or is open; and the counts are right.
func TestLines(t *testing.T) {
	page, err := os.ReadFile("lines.md")
	if err != nil {
		t.Fatal(err)
	}
	sections, sources := sectionsOf(t, string(page)), packages{}
	seen := map[string]bool{}
	for _, s := range sections {
		for _, r := range s.rows {
			if seen[r.line] {
				t.Errorf("%s: %q is there twice", s.title, r.line)
			}
			seen[r.line] = true
			if r.tests != "open" {
				for _, problem := range r.problems(sources, s.pkg) {
					t.Errorf("%s: %q: %s", s.title, r.line, problem)
				}
			}
		}
	}
	checkCounts(t, page, sections)
}

// Wrong tests are found.
func TestLinesWithout(t *testing.T) {
	for tests, want := range map[string]string{
		"": "has neither a test nor open", "later": "has neither a test nor open", "`TestLines`": "", "`TestLinesMissing`": "docs has no TestLinesMissing",
		"`TestLines/a line`":            "",
		"`TestLines` of `docs/nowhere`": "docs/nowhere has no TestLines", "`TestScripts/validate`": "", "`TestScripts/no-script`": "there is no script no-script", "`TestScripts`": "names no script",
		"the examples of `flux-path-missing`": "", "the examples of `flux-nothing`": "no rule flux-nothing has examples", "`TestLines`, and more": `"and more" is no test`,
	} {
		if got := strings.Join((row{"a line", tests}).problems(packages{}, "docs"), "; "); got != want {
			t.Errorf("%q: got %q, want %q", tests, got, want)
		}
	}
	if got := (row{"a line", "`TestLines/" + strings.ToUpper("nothing") + "`"}).problems(packages{}, "docs"); len(got) != 1 {
		t.Errorf("a subtest that is not there: %q", got)
	}
}

// sectionsOf reads the sections of the page with their tables.
func sectionsOf(t *testing.T, page string) []section {
	t.Helper()
	pkg := regexp.MustCompile("is `Test\\w+/[^`]+` of `([^`]+)`")
	var all []section
	for text := range strings.Lines(page) {
		text = strings.TrimSpace(text)
		if title, found := strings.CutPrefix(text, "## "); found {
			all = append(all, section{title: title})
		}
		if len(all) == 0 {
			continue
		}
		s := &all[len(all)-1]
		if m := pkg.FindStringSubmatch(text); m != nil {
			s.pkg = m[1]
		}
		if !strings.HasPrefix(text, "| ") || text == "| Line | Test |" {
			continue
		}
		cells := strings.Split(strings.Trim(text, "|"), " | ")
		if len(cells) != 2 {
			t.Fatalf("%q has %d cells", text, len(cells))
		}
		s.rows = append(s.rows, row{html.UnescapeString(strings.TrimSpace(cells[0])), strings.TrimSpace(cells[1])})
	}
	return all
}

// problems says what is wrong with the tests of a row; pkg is where those are that name no package.
func (r row) problems(sources packages, pkg string) []string {
	var all []string
	named := 0
	for _, m := range test.FindAllStringSubmatch(r.tests, -1) {
		named++
		name, sub, where := m[1], m[2], m[3]
		switch {
		case name == scripts && sub == "":
			all = append(all, "names no script")
			continue
		case name == scripts && where == "":
			where = command
		case where == "":
			where = pkg
		}
		of := sources.read(where)
		switch {
		case !of.functions[name]:
			all = append(all, fmt.Sprintf("%s has no %s", where, name))
		case name == scripts && !exists(path.Join(where, "testdata", sub+".txtar")):
			all = append(all, "there is no script "+sub)
		case name == scripts:
		case sub != "" && !of.texts[sub] && !exists(path.Join(where, "testdata", sub+".txtar")) && !exists(path.Join("testdata", "trees", sub+".txtar")):
			all = append(all, fmt.Sprintf("%s of %s has no subtest %q", name, where, sub))
		case name == "TestChecklist" && sub == "" && !of.texts[r.line]:
			all = append(all, fmt.Sprintf("%s of %s does not check this line", name, where))
		}
	}
	for _, m := range examples.FindAllStringSubmatch(r.tests, -1) {
		named++
		if found, _ := filepath.Glob(filepath.FromSlash("../validators/*/examples/" + m[1] + ".txtar")); len(found) != 1 {
			all = append(all, fmt.Sprintf("no rule %s has examples", m[1]))
		}
	}
	if named == 0 {
		return []string{"has neither a test nor open"}
	}
	for rest := range strings.SplitSeq(examples.ReplaceAllString(test.ReplaceAllString(r.tests, ""), ""), ",") {
		if rest = strings.TrimSpace(rest); rest != "" {
			all = append(all, fmt.Sprintf("%q is no test", rest))
		}
	}
	return all
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join("..", filepath.FromSlash(name)))
	return err == nil
}

// packages are the test files of packages, by their folders.
type packages map[string]*parsed

// parsed are the functions of test files, and the texts in them, which subtests are named by.
type parsed struct{ functions, texts map[string]bool }

func (p packages) read(dir string) *parsed {
	if p[dir] != nil {
		return p[dir]
	}
	of := &parsed{map[string]bool{}, map[string]bool{}}
	p[dir] = of
	files, _ := filepath.Glob(filepath.Join("..", filepath.FromSlash(dir), "*_test.go"))
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			continue // the build tells
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				of.functions[n.Name.Name] = of.functions[n.Name.Name] || n.Recv == nil
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					of.texts[text] = true
				}
			}
			return true
		})
	}
	return of
}

// checkCounts compares the counts at the head of the page with the tables.
func checkCounts(t *testing.T, page []byte, sections []section) {
	t.Helper()
	var b strings.Builder
	b.WriteString("<!-- counts -->\n| Section | Lines | Shown by a test | Open |\n|---|---|---|---|\n")
	lines, open := 0, 0
	for _, s := range sections {
		n := len(slices.DeleteFunc(slices.Clone(s.rows), func(r row) bool { return r.tests != "open" }))
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", s.title, len(s.rows), len(s.rows)-n, n)
		lines, open = lines+len(s.rows), open+n
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d |\n<!-- /counts -->", lines, lines-open, open)
	start, end := bytes.Index(page, []byte("<!-- counts -->")), bytes.Index(page, []byte("<!-- /counts -->"))
	if start < 0 || end < start {
		t.Fatal("the page has no place for the counts")
	}
	end += len("<!-- /counts -->")
	if string(page[start:end]) == b.String() {
		return
	}
	if !*update {
		t.Fatalf("the counts are\n%s\nbut should be\n%s\nrun go test ./docs -update", page[start:end], b.String())
	}
	if err := os.WriteFile("lines.md", slices.Concat(page[:start], []byte(b.String()), page[end:]), 0o644); err != nil {
		t.Fatal(err)
	}
}
