package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
	"github.com/fleetwright/fleetwright/render/newkey"
)

func newSecretsKeygen(s streams) *cobra.Command {
	var platform bool
	var cluster, tenant, out, format string
	c := &cobra.Command{
		Use:   "keygen [DIR]",
		Short: "Generate a key pair: the private key to a file, the public key to the specification",
		Long: `Generate an age key pair. The private key is written to a new file outside of any Git
work tree and bare repository, which only its owner can read; an existing file is never
overwritten. The public key is added to the Encryption of the specification in DIR/fleet
(by default the working directory); its comments and layout are kept. If there is no
Encryption, DIR/fleet/encryption.yaml is created.

--platform generates a personal key for a member of the platform team; a comment beside
the public key may name the person. --cluster and --tenant generate the key with which a
cluster, or a tenant's Kustomizations, decrypt. The private key goes to sops/age/keys.txt
in the user's configuration folder, where sops and Fleetwright look for personal keys, or
to cluster-NAME.agekey or tenant-NAME.agekey beside it.`,
		Example: `  fleetwright secrets keygen --platform
  fleetwright secrets keygen --cluster production --out ~/keys/production.agekey`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var holders []secrets.Holder
			if platform {
				holders = append(holders, secrets.Holder{Scope: secrets.Platform})
			}
			if cluster != "" {
				holders = append(holders, secrets.Holder{Scope: secrets.Cluster, Name: cluster})
			}
			if tenant != "" {
				holders = append(holders, secrets.Holder{Scope: secrets.Tenant, Name: tenant})
			}
			if len(holders) != 1 {
				return usage(c, errors.New("name the owner of the key: --platform, --cluster NAME or --tenant NAME"))
			}
			return runKeygen(c.Context(), s, folderArgument(args), holders[0], out, format)
		},
	}
	format = formatText
	c.Flags().Var(oneOf(&format, formatText, formatJSON), "format", "print `FORMAT`: text or json")
	c.Flags().BoolVar(&platform, "platform", false, "generate a personal key for a member of the platform team")
	c.Flags().StringVar(&cluster, "cluster", "", "generate the key of the cluster `NAME`")
	c.Flags().StringVar(&tenant, "tenant", "", "generate the key of the tenant `NAME`")
	c.Flags().StringVar(&out, "out", "", "write the private key to `FILE`, which must not exist")
	return c
}

// keyReport is the JSON output of secrets keygen. Fields may be added and are never renamed.
type keyReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// PrivateKey is the file with the private key.
	PrivateKey string `json:"privateKey"`
	PublicKey  string `json:"publicKey"`
	// Specification is the file to which the public key was added.
	Specification string `json:"specification"`
}

func runKeygen(ctx context.Context, s streams, dir string, holder secrets.Holder, out, format string) error {
	if out == "" {
		if out = defaultKeyFile(s.env, holder); out == "" {
			return &failure{status: statusUsage, err: errors.New("cannot choose a file for the private key: the user has no home folder"), hint: "name a file with --out"}
		}
	}
	edit, err := newkey.Prepare(dir, holder)
	if err != nil {
		return err
	}
	if root, what, ok := gitrepo.Around(filepath.Dir(out)); ok {
		return &failure{status: statusUsage, err: fmt.Errorf("%s is in the Git %s %s: a private key must not be stored there", output.Line(out), what, output.Line(root)), hint: "name a file outside of Git with --out"}
	}
	private, public, err := keys.Generate()
	if err != nil {
		return err
	}
	change, err := edit.Add(public)
	if err != nil {
		return err
	}
	if err := newkey.Save(out, private, public, time.Now()); err != nil {
		return err
	}
	if err := change.Write(ctx); err != nil {
		return &failure{status: statusStopped, err: fmt.Errorf("the private key was written to %s, but the specification cannot be written: %w", output.Line(out), err), hint: "add the public key to it: " + public}
	}
	if format == formatJSON {
		return writeJSON(s.out, keyReport{v1alpha1.APIVersion, "KeyReport", out, public, change.File})
	}
	_ = output.Printf(s.out, "private key: %s\npublic key:  %s\n%s: %s\n", out, public, change.File, change.What)
	_ = output.Printf(s.out, "%s", output.Lines(nextOf(holder, edit, out)))
	return nil
}

// defaultKeyFile returns the file for a private key if the user names none.
func defaultKeyFile(env func(string) string, holder secrets.Holder) string {
	file := keys.DefaultFile(env)
	if file == "" || holder.Scope == secrets.Platform {
		return file
	}
	return filepath.Join(filepath.Dir(file), string(holder.Scope)+"-"+holder.Name+".agekey")
}

// nextOf returns the next steps after a new key was created.
func nextOf(holder secrets.Holder, edit *newkey.Edit, out string) string {
	next := "next: fleetwright render, then fleetwright secrets updatekeys with a key that opens the encrypted files\n"
	switch holder.Scope {
	case secrets.Cluster:
		next = fmt.Sprintf("next: create the key's Secret in the cluster, with kubectl's context set to it:\n  kubectl create secret generic %s --namespace=flux-system --from-file=age.agekey=%s\n", edit.SecretName(), out) + next
	case secrets.Tenant:
		next = fmt.Sprintf("next: create the key's Secret in each of the tenant's clusters, with kubectl's context set to it:\n  kubectl create secret generic %s --namespace=%s --from-file=age.agekey=%s\n", edit.SecretName(), edit.Namespace(), out) + next
	}
	return next
}
