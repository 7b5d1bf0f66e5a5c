package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators"
)

func newExplain(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [RULE | KIND[.FIELD]]",
		Short: "Say why a rule exists, or what a field of the specification means",
		Long: `Say why a rule exists, with bad and good examples and the fix. Without an argument, list
the rules.

For a kind of the specification, or a field of one such as K0rdent.spec.capi, describe
its meaning, its type and its fields.`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return slices.Concat(ruleIDs(), schemas.SpecificationKinds()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return validators.List(s.out)
			}
			if schemas.IsSpecificationPath(args[0]) || strings.Contains(args[0], ".") {
				return explainField(s.out, args[0])
			}
			r, ok := validators.Find(args[0])
			if !ok {
				return unknownTopic(args[0])
			}
			return validators.Explain(s.out, r)
		},
	}
}

// unknownTopic returns the error for a name that is neither a rule nor a kind of the specification.
func unknownTopic(name string) error {
	kinds := schemas.SpecificationKinds()
	hint := "list the rules with \"fleetwright explain\", or name a kind of the specification: " + strings.Join(kinds, ", ")
	if near, ok := nearest.To(name, slices.Concat(ruleIDs(), kinds)); ok {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	return advice.Input(fmt.Errorf("%q is neither a rule nor a kind of the specification", name), hint)
}

// explainField prints the documentation of a field of the specification.
func explainField(w io.Writer, path string) error {
	f, err := schemas.SpecificationFieldAt(path)
	if err != nil {
		return err
	}
	_ = output.Printf(w, "%s: %s\n\n%s\n", f.Path, typeOf(f), output.Lines(f.Meaning))
	if f.Wants != "" {
		_ = output.Printf(w, "%s\n", output.Lines(f.Wants))
	}
	if len(f.Fields) == 0 {
		return nil
	}
	_ = output.Printf(w, "\nFields:\n\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, in := range f.Fields {
		_ = output.Printf(table, "  %s\t%s\t%s\n", in.Name, typeOf(in), strings.TrimSpace(in.Meaning+" "+in.Wants))
	}
	return table.Flush()
}

func typeOf(f schemas.SpecificationField) string {
	if f.Required {
		return f.Type + ", required"
	}
	return f.Type
}

func ruleIDs() []string {
	var ids []string
	for _, r := range validators.All() {
		ids = append(ids, r.ID)
	}
	return ids
}
