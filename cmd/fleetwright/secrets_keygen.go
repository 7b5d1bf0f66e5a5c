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
		Short: "Make a key pair: the private key to a file, the public key into the specification",
		Long: `Make a key pair of age. The private key goes to a new file outside of any Git work
tree and bare repository, which only its owner can read; a file that is there is never written over. The
public key goes into the Encryption of the specification in DIR/fleet (by default
the working directory), whose comments and layout stay as they are; without one,
DIR/fleet/encryption.yaml is written.

--platform makes a key of yours, beside which a comment may name you; --cluster and
--tenant make the key with which a cluster, or a tenant's Kustomizations, decrypt.
The file is sops/age/keys.txt of the user's configuration, where sops and Fleetwright
look for a person's keys, or cluster-NAME.agekey or tenant-NAME.agekey beside it.`,
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
				return usage(c, errors.New("say whose key it is: --platform, --cluster NAME or --tenant NAME"))
			}
			return runKeygen(c.Context(), s, folderArgument(args), holders[0], out, format)
		},
	}
	format = formatText
	c.Flags().Var(oneOf(&format, formatText, formatJSON), "format", "print `FORMAT`: text or json")
	c.Flags().BoolVar(&platform, "platform", false, "a key of the platform team")
	c.Flags().StringVar(&cluster, "cluster", "", "the key of the cluster `NAME`")
	c.Flags().StringVar(&tenant, "tenant", "", "the key of the tenant `NAME`")
	c.Flags().StringVar(&out, "out", "", "write the private key to `FILE`, which must not exist")
	return c
}

// keyReport is what secrets keygen prints with --format json. Fields may be added and are never
// renamed.
type keyReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// PrivateKey is the file that holds it.
	PrivateKey string `json:"privateKey"`
	PublicKey  string `json:"publicKey"`
	// Specification is the file that has the public key now.
	Specification string `json:"specification"`
}

func runKeygen(ctx context.Context, s streams, dir string, holder secrets.Holder, out, format string) error {
	if out == "" {
		if out = defaultKeyFile(s.env, holder); out == "" {
			return &failure{status: statusUsage, err: errors.New("there is no home folder for the private key"), hint: "name a file with --out"}
		}
	}
	edit, err := newkey.Prepare(dir, holder)
	if err != nil {
		return keygenError(err)
	}
	if root, what, ok := gitrepo.Around(filepath.Dir(out)); ok {
		return &failure{status: statusUsage, err: fmt.Errorf("%s is in the Git %s %s: a private key doesn't belong there", output.Line(out), what, output.Line(root)), hint: "name a file outside of it with --out"}
	}
	private, public, err := keys.Generate()
	if err != nil {
		return err
	}
	change, err := edit.Add(public)
	if err != nil {
		return keygenError(err)
	}
	if err := newkey.Save(out, private, public, time.Now()); err != nil {
		return keygenError(err)
	}
	if err := change.Write(ctx); err != nil {
		return &failure{status: statusStopped, err: fmt.Errorf("the private key is in %s, and the specification can't be written: %w", output.Line(out), err), hint: "add the public key to it: " + public}
	}
	if format == formatJSON {
		return writeJSON(s.out, keyReport{v1alpha1.APIVersion, "KeyReport", out, public, change.File})
	}
	_ = output.Printf(s.out, "private key: %s\npublic key:  %s\n%s: %s\n", out, public, change.File, change.What)
	_ = output.Printf(s.out, "%s", output.Lines(nextOf(holder, edit, out)))
	return nil
}

// defaultKeyFile is where a private key goes that nobody names a file for.
func defaultKeyFile(env func(string) string, holder secrets.Holder) string {
	file := keys.DefaultFile(env)
	if file == "" || holder.Scope == secrets.Platform {
		return file
	}
	return filepath.Join(filepath.Dir(file), string(holder.Scope)+"-"+holder.Name+".agekey")
}

// nextOf says what comes after a new key.
func nextOf(holder secrets.Holder, edit *newkey.Edit, out string) string {
	next := "next: fleetwright render, then fleetwright secrets updatekeys with a key that opens what is encrypted already\n"
	switch holder.Scope {
	case secrets.Cluster:
		next = fmt.Sprintf("next: give the cluster its key, with kubectl's context on it:\n  kubectl create secret generic %s --namespace=flux-system --from-file=age.agekey=%s\n", edit.SecretName(), out) + next
	case secrets.Tenant:
		next = fmt.Sprintf("next: give the tenant's clusters its key, with kubectl's context on each:\n  kubectl create secret generic %s --namespace=%s --from-file=age.agekey=%s\n", edit.SecretName(), edit.Namespace(), out) + next
	}
	return next
}

func keygenError(err error) error {
	if known := (*newkey.Error)(nil); errors.As(err, &known) {
		return &failure{status: statusUsage, err: err, hint: known.Hint()}
	}
	return err
}
