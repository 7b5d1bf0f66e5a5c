package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/version"
)

// streams are what a command talks to. Text goes to out and err by output.Printf; formats for
// machines have writers of their own.
type streams struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
}

// colour says whether out is a terminal that wants colours (https://no-color.org).
func (s streams) colour() bool {
	f, ok := fileOf(output.Raw(s.out))
	return ok && term.IsTerminal(int(f.Fd())) && s.env("NO_COLOR") == "" && s.env("TERM") != "dumb"
}

// fileOf is the file that a stream writes to, if it is one.
func fileOf(w io.Writer) (*os.File, bool) {
	if s, ok := w.(interface{ File() *os.File }); ok {
		return s.File(), true
	}
	f, ok := w.(*os.File)
	return f, ok
}

// commands are all commands of the tool, in the order of its help.
func commands(s streams) []*cobra.Command {
	return []*cobra.Command{
		newInit(s), newRender(s), newCommit(s), newValidate(s), newBuild(s), newDiff(s), newBootstrap(s), newSecrets(s),
		newExplain(s), newSchema(s), newFn(s), newVersion(s),
	}
}

// newRoot makes the command with everything below it.
func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "fleetwright",
		Short: "Build and keep whole a Flux GitOps repository",
		Long: `Fleetwright builds and keeps whole a Flux GitOps repository. From a small
specification it generates the platform repository and the tenants', and commits
them; it validates any Flux repository, its own or hand-made.

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

// below lists a command and all commands in it.
func below(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, child := range c.Commands() {
		all = append(all, below(child)...)
	}
	return all
}

// checkArguments makes wrong arguments of a command wrong usage.
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

// group runs a command that only holds others.
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

// execute runs the command line and returns the exit status.
func execute(ctx context.Context, args []string, s streams) int {
	out, told := output.NewText(s.out, s.colour()), output.NewText(s.err, false)
	s.out, s.err = out, told
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if errors.Is(ctx.Err(), context.Canceled) && err != nil {
		err = &failure{status: statusStopped, err: errors.New("interrupted")}
	}
	status := s.unchecked(s.fail(err))
	_ = errors.Join(out.Flush(), told.Flush()) // there is nowhere else to report it
	return status
}

// alternatives lists allowed values: a, b or c.
func alternatives(values []string) string {
	values = slices.Clone(values)
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	return strings.Join(values[:len(values)-1], ", ") + " or " + values[len(values)-1]
}
