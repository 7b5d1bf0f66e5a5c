package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// environmentPrefix is the prefix of the environment variables that set flags.
const environmentPrefix = "FLEETWRIGHT_"

// fromEnvironment sets flags from environment variables, such as FLEETWRIGHT_FAIL_ON for --fail-on, unless the command
// line sets them. An empty variable counts as unset. It does not set the flags named in but, which start an action.
func fromEnvironment(c *cobra.Command, env func(string) string, but ...string) error {
	if err := flagsFrom(c.LocalNonPersistentFlags(), env, but...); err != nil {
		return usage(c, err)
	}
	return nil
}

// flagsFrom sets flags from environment variables, unless the command line sets them.
func flagsFrom(flags *pflag.FlagSet, env func(string) string, but ...string) error {
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		name := environmentPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value := env(name)
		if f.Changed || value == "" || f.Name == "help" || slices.Contains(but, f.Name) {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			if f.Value.Type() == "bool" {
				err = errors.New("want true or false")
			} else if cause := errors.Unwrap(err); cause != nil {
				err = cause
			}
			errs = append(errs, fmt.Errorf("%s=%q: %w", name, value, err))
		}
	})
	return errors.Join(errs...)
}
