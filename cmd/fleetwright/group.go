package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// group runs a command that only has subcommands.
func group(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	var names []string
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	err := fmt.Errorf("unknown command %q: want %s", args[0], alternatives(names))
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return &failure{status: statusUsage, err: err, hint: fmt.Sprintf("did you mean %q?", c.CommandPath()+" "+near[0])}
	}
	return usage(c, err)
}
