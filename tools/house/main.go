// Command house measures the structure of the code: cycles of files, long files, imports against the direction,
// the files that name a product, the length of the rules' pages and of the code. It prints a table. With -check
// it fails if a figure is above its maximum, or if docs/imports.md is not current.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
)

func main() {
	root := flag.String("root", ".", "the project's folder")
	check := flag.Bool("check", false, "fail if a figure is above its maximum, or if "+importsPage+" is not current")
	imports := flag.Bool("imports", false, "write "+importsPage+", and nothing else")
	verbose := flag.Bool("verbose", false, "print the files of each cycle")
	flag.Parse()
	if err := run(*root, options{*check, *imports, *verbose}); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

type options struct{ check, imports, verbose bool }

// figure is a line of the table.
type figure struct {
	name  string
	value int
	// maximum is nil if the figure is only printed.
	maximum *int
	// where names the file or package with the value, "" if it is the sum of all.
	where string
}

func run(root string, o options) error {
	packages, err := load(root)
	if err != nil {
		return err
	}
	imports := importsOf(packages)
	if o.imports {
		return os.WriteFile(filepath.Join(root, importsPage), drawing(imports), 0o644)
	}
	var knots []knot
	for _, p := range packages {
		knots = append(knots, largestKnot(p))
	}
	slices.SortFunc(knots, func(a, b knot) int {
		return cmp.Or(len(b.files)-len(a.files), cmp.Compare(a.in, b.in))
	})
	if o.verbose {
		for _, k := range knots {
			if len(k.files) > 1 {
				fmt.Printf("%s: %d of %d files: %v\n", k.in, len(k.files), k.of, k.files)
			}
		}
	}
	figures := []figure{{name: "largest cycle of files in a package", value: len(knots[0].files), maximum: new(8), where: knots[0].in}, against(imports)}
	figures = append(figures, sizes(packages)...)
	figures = append(figures, products(packages)...)
	rulePages, err := pages(root)
	if err != nil {
		return err
	}
	figures = append(figures, rulePages, unused(packages))
	if above := printTable(figures); o.check && len(above) > 0 {
		return fmt.Errorf("above the maximum: %q", above)
	}
	if o.check {
		return checkDrawing(root, imports)
	}
	return nil
}

// checkDrawing returns an error if docs/imports.md is not the drawing of the imports.
func checkDrawing(root string, imports map[string][]string) error {
	page, err := os.ReadFile(filepath.Join(root, importsPage))
	if err == nil && !bytes.Equal(page, drawing(imports)) {
		err = errors.New(importsPage + " is not current: run make imports")
	}
	return err
}

// printTable prints the figures and returns the names of those above their maximum.
func printTable(figures []figure) []string {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "FIGURE\tNOW\tMAXIMUM\tWHERE")
	var above []string
	for _, f := range figures {
		maximum := "-"
		if f.maximum != nil {
			maximum = fmt.Sprint(*f.maximum)
			if f.value > *f.maximum {
				above = append(above, f.name)
			}
		}
		_, _ = fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", f.name, f.value, maximum, f.where)
	}
	_ = w.Flush() // standard output
	return above
}
