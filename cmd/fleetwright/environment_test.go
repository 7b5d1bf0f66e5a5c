package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestFromEnvironment(t *testing.T) {
	env := map[string]string{"FLEETWRIGHT_A_FLAG": "x", "FLEETWRIGHT_LIST": "a,b", "FLEETWRIGHT_SWITCH": "true",
		"FLEETWRIGHT_GIVEN": "environment", "FLEETWRIGHT_ACTION": "delete", "FLEETWRIGHT_EMPTY": "", "FLEETWRIGHT_HELP": "true"}
	var a, given, action, empty string
	var list []string
	var on bool
	c := &cobra.Command{Use: "test", RunE: func(c *cobra.Command, _ []string) error {
		return fromEnvironment(c, func(name string) string { return env[name] }, "action")
	}}
	c.Flags().StringVar(&a, "a-flag", "", "")
	c.Flags().StringVar(&given, "given", "", "")
	c.Flags().StringVar(&action, "action", "", "")
	c.Flags().StringVar(&empty, "empty", "default", "")
	c.Flags().StringSliceVar(&list, "list", []string{"z"}, "")
	c.Flags().BoolVar(&on, "switch", false, "")
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs([]string{"--given", "flag"})
	if err := c.Execute(); err != nil {
		t.Fatal(err)
	}
	if a != "x" || given != "flag" || action != "" || empty != "default" || strings.Join(list, " ") != "a b" || !on {
		t.Errorf("the flags are %q %q %q %q %q %v", a, given, action, empty, list, on)
	}
	if !c.Flags().Changed("a-flag") || c.Flags().Changed("empty") {
		t.Error("what the environment gives doesn't count as given")
	}
	env["FLEETWRIGHT_SWITCH"] = "perhaps"
	on = false
	c.Flags().Lookup("switch").Changed = false
	if err := c.Execute(); err == nil || !strings.Contains(err.Error(), `FLEETWRIGHT_SWITCH="perhaps": want true or false`) {
		t.Errorf("a wrong value gives %v", err)
	}
}
