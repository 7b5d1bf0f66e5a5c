package main

import (
	"github.com/spf13/cobra"
)

// newSecrets returns the command with the subcommands about secrets.
func newSecrets(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "secrets",
		Short: "Keep secrets encrypted in Git",
		Long:  `Keep secrets encrypted in Git with SOPS and age, and find those that are not encrypted.`,
		Args:  cobra.ArbitraryArgs,
		RunE:  group,
	}
	c.AddCommand(newSecretsKeygen(s), newSecretsEncrypt(s), newSecretsSync(s), newSecretsUpdateKeys(s), newSecretsVerify(s), newSecretsCheck(s))
	return c
}
