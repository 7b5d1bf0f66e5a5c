package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/schemas"
)

func newSchema(s streams) *cobra.Command {
	return &cobra.Command{
		Use:       "schema KIND",
		Short:     "Print the JSON Schema of a kind of the specification",
		Long:      "Print the JSON Schema of a kind of the specification: " + alternatives(schemas.SpecificationKinds()) + ".",
		Args:      cobra.ExactArgs(1),
		ValidArgs: schemas.SpecificationKinds(),
		RunE: func(c *cobra.Command, args []string) error {
			content, ok := schemas.Specification(args[0])
			if !ok {
				return usage(c, fmt.Errorf("the specification has no kind %q: want %s", args[0], alternatives(schemas.SpecificationKinds())))
			}
			_, err := output.JSON(s.out).Write(content)
			return err
		},
	}
}
