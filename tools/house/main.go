// Command house measures the structure of the code: cycles of files, long files, imports against the direction,
// the files that name a product, the length of the rules' pages and of the code. It prints a table. With -check
// it fails if a figure is above its limit in limits.txt.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
)

func main() {
	root := flag.String("root", ".", "the project's folder")
	check := flag.Bool("check", false, "fail where a figure is above its limit")
	lower := flag.Bool("lower", false, "write the figures of today as the limits")
	imports := flag.Bool("imports", false, "write "+importsPage+", and nothing else")
	verbose := flag.Bool("verbose", false, "print the files of each cycle")
	flag.Parse()
	if err := run(*root, options{*check, *lower, *imports, *verbose}); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

type options struct{ check, lower, imports, verbose bool }

// figure is a line of the table.
type figure struct {
	name  string
	value int
	// aim is the maximum that the figure should reach in the end; 0 if there is none.
	aim int
	// free reports whether the figure has no limit and is only printed.
	free bool
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
	figures := []figure{{name: "largest cycle of files in a package", value: len(knots[0].files), aim: 8, where: knots[0].in}, against(imports)}
	figures = append(figures, sizes(packages)...)
	figures = append(figures, products(packages)...)
	rulePages, err := pages(root)
	if err != nil {
		return err
	}
	figures = append(figures, rulePages, unused(packages))
	limits, err := readLimits(root)
	if err != nil {
		return err
	}
	above := printTable(figures, limits)
	if o.lower {
		return writeLimits(root, figures)
	}
	if o.check && len(above) > 0 {
		return fmt.Errorf("above the limit: %q", above)
	}
	return nil
}

// printTable prints the figures and returns the names of those above their limits.
func printTable(figures []figure, limits map[string]int) []string {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "FIGURE\tNOW\tLIMIT\tAIM\tWHERE")
	var above []string
	for _, f := range figures {
		aim, limit := "-", "-"
		if f.aim > 0 || f.name == againstName || f.name == unusedName {
			aim = fmt.Sprint(f.aim)
		}
		if !f.free {
			limit = fmt.Sprint(limits[f.name])
		}
		_, _ = fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", f.name, f.value, limit, aim, f.where)
		if !f.free && f.value > limits[f.name] {
			above = append(above, f.name)
		}
	}
	_ = w.Flush() // standard output
	return above
}
