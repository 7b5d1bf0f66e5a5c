package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/version"
)

// commands returns all commands, in the order of the help.
func commands(s streams) []*cobra.Command {
	return []*cobra.Command{
		newInit(s), newRender(s), newCommit(s), newValidate(s), newBuild(s), newDiff(s), newImages(s), newFetch(s), newBootstrap(s), newSecrets(s),
		newExplain(s), newSchema(s), newSchemas(s), newFn(s), newVersion(s),
	}
}

// newRoot returns the root command with all subcommands.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "fleetwright",
		Short: "Generate and validate Flux GitOps repositories",
		Long: `Fleetwright generates and validates Flux GitOps repositories. From a small specification
it generates the platform repository and the tenants' repositories, and commits them. It
validates any Flux repository, its own or hand-made.

Exit status: 0 fine; 1 findings, or --check or diff found changes; 2 wrong usage,
unreadable input or nothing to check; 3 cannot continue.`,
		Version: version.Current().Version,

		SuggestionsMinimumDistance: 2,
		SilenceErrors:              true,
		SilenceUsage:               true,
		Args:                       cobra.ArbitraryArgs,
		RunE:                       group,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(c, errors.New(output.Line(err.Error()))) })
	limitFlags(root, s)
	root.AddCommand(commands(s)...)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, c := range below(root) {
		checkArguments(c)
	}
	return root
}

// below returns a command and all its subcommands.
func below(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, child := range c.Commands() {
		all = append(all, below(child)...)
	}
	return all
}

// checkArguments lets a command return a usage error for wrong arguments.
func checkArguments(c *cobra.Command) {
	check := c.Args
	if check == nil {
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return usage(c, err)
		}
		return nil
	}
}

// execute runs the command line and returns the exit status.
func execute(ctx context.Context, args []string, s streams) int {
	out, errOut := output.NewText(s.out, s.colour()), output.NewText(s.err, false)
	s.out, s.err = out, errOut
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if errors.Is(ctx.Err(), context.Canceled) && err != nil {
		err = &failure{status: statusStopped, err: errors.New("interrupted")}
	}
	status := s.unchecked(s.fail(err))
	_ = errors.Join(out.Flush(), errOut.Flush()) // this error cannot be reported anywhere
	return status
}
