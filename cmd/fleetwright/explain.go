package main

import (
	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/validators"
)

func newExplain(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [RULE]",
		Short: "Say why a rule exists, with bad and good examples",
		Long: `Say why a rule exists, with bad and good examples and what mends it. Without RULE, list
the rules.`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return ruleIDs(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return validators.List(s.out)
			}
			r, ok := validators.Find(args[0])
			if !ok {
				err := &validators.UnknownRule{ID: args[0]}
				return &failure{status: statusUsage, err: err, hint: err.Hint()}
			}
			return validators.Explain(s.out, r)
		},
	}
}

func ruleIDs() []string {
	var ids []string
	for _, r := range validators.All() {
		ids = append(ids, r.ID)
	}
	return ids
}
