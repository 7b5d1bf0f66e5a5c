// Command house measures the structure of the code: knots of files, long files, imports against the
// direction in which data flows, and how far a product's name reaches. It prints a table, and with
// -check fails where a figure is above its limit.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
)

func main() {
	root := flag.String("root", ".", "the project's folder")
	check := flag.Bool("check", false, "fail where a figure is above its limit")
	verbose := flag.Bool("verbose", false, "print the files of each knot")
	flag.Parse()
	if err := run(*root, *check, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// figure is a line of the table.
type figure struct {
	name  string
	value int
	limit int
	// where is what has the value, "" where all has.
	where string
}

func run(root string, check, verbose bool) error {
	packages, err := load(root)
	if err != nil {
		return err
	}
	var knots []knot
	for _, p := range packages {
		knots = append(knots, largestKnot(p))
	}
	slices.SortFunc(knots, func(a, b knot) int {
		return cmp.Or(len(b.files)-len(a.files), cmp.Compare(a.in, b.in))
	})
	if verbose {
		for _, k := range knots {
			if len(k.files) > 1 {
				fmt.Printf("%s: %d of %d files: %v\n", k.in, len(k.files), k.of, k.files)
			}
		}
	}
	figures := []figure{{"largest cycle of files in a package", len(knots[0].files), mostKnot, knots[0].in}}
	figures = append(figures, sizes(packages)...)
	figures = append(figures, products(packages)...)
	rulePages, err := pages(root)
	if err != nil {
		return err
	}
	figures = append(figures, rulePages)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "FIGURE\tNOW\tLIMIT\tWHERE")
	var above []string
	for _, f := range figures {
		limit := fmt.Sprint(f.limit)
		if f.limit == 0 {
			limit = "-"
		}
		_, _ = fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", f.name, f.value, limit, f.where)
		if f.limit > 0 && f.value > f.limit {
			above = append(above, f.name)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if check && len(above) > 0 {
		return fmt.Errorf("above the limit: %q", above)
	}
	return nil
}
