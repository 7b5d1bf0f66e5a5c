package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/render"
)

// newSecrets returns the command with the subcommands about secrets.
func newSecrets(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "secrets",
		Short: "Keep secrets encrypted in Git",
		Long:  `Keep secrets encrypted in Git with SOPS and age, and find secrets that are not encrypted.`,
		Args:  cobra.ArbitraryArgs,
		RunE:  group,
	}
	c.AddCommand(newSecretsKeygen(s), newSecretsEncrypt(s), newSecretsSync(s), newSecretsUpdateKeys(s), newSecretsVerify(s), newSecretsCheck(s))
	return c
}

// specifiedRules returns the rules that render writes to the .sops.yaml of a folder; nil if no specification
// has an Encryption there.
func specifiedRules(dir string) (*secrets.Config, error) {
	spec, err := render.ReadEncrypting(dir)
	if spec == nil || err != nil {
		return nil, err
	}
	config, err := secrets.OfSpecification(spec.Spec)
	if err == nil {
		config.File = filepath.ToSlash(filepath.Join(dir, secrets.ConfigName))
	}
	return config, err
}
