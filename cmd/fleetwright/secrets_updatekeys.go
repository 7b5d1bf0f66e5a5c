package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
	"github.com/fleetwright/fleetwright/internal/secrets/sealed"
)

func newSecretsUpdateKeys(s streams) *cobra.Command {
	var rotate, check bool
	var format string
	c := &cobra.Command{
		Use:   "updatekeys [FILE|DIR…]",
		Short: "Update the recipients of encrypted files",
		Long: `Set the recipients of encrypted files to the readers that the specification names, whatever
the .sops.yaml of the last render says, or without a specification to the recipients in the
rules of .sops.yaml. Missing recipients are added, and all others are removed. Without FILE
or DIR, update all encrypted files below the working directory.

The data key of a file and its encrypted values do not change: a removed recipient still
knows the data key of every file that they could read. --rotate generates new data keys
and encrypts the values again. To revoke somebody's access, rotate, and also replace the
values that they have read.

To add a recipient or to rotate, the command needs a private key that opens the files. It
looks where sops does: SOPS_AGE_KEY, SOPS_AGE_KEY_FILE, SOPS_AGE_SSH_PRIVATE_KEY_FILE,
sops/age/keys.txt in the user's configuration folder, ~/.ssh. Keys of other services
(PGP, KMS, Vault) are kept; to add one, or to rotate a file that has one, run sops.

A file whose recipients are up to date is not changed. If one file cannot be changed,
none is.`,
		Example: `  fleetwright secrets updatekeys --check
  fleetwright secrets updatekeys
  fleetwright secrets updatekeys --rotate apps clusters/production`,
		RunE: func(c *cobra.Command, args []string) error {
			return runUpdateKeys(c.Context(), s, args, sealed.UpdateOptions{Rotate: rotate, Compare: check, Now: time.Now()}, format)
		},
	}
	format = formatText
	c.Flags().BoolVar(&rotate, "rotate", false, "generate new data keys and encrypt the values again")
	c.Flags().BoolVar(&check, "check", false, "write nothing, print what would change, and exit with 1 if anything would")
	c.Flags().Var(oneOf(&format, formatText, formatJSON), "format", "print `FORMAT`: text or json")
	return c
}

func runUpdateKeys(ctx context.Context, s streams, args []string, o sealed.UpdateOptions, format string) error {
	if len(args) == 0 {
		args = []string{"."}
	}
	if o.Keys = (&keys.Identities{}); !o.Compare {
		o.Keys = keys.Find(s.env)
	}
	if !o.Compare {
		if err := finishWrites(ctx, s, format, args); err != nil {
			return err
		}
	}
	rules := sealed.NewRules(specifiedRules)
	var results []sealed.Result
	for _, arg := range args {
		files, found, err := encryptedFiles(ctx, arg)
		if err != nil {
			return sealedError(err)
		}
		o.Found = found
		more, err := rules.UpdateKeys(ctx, files, o)
		if err != nil {
			return sealedError(err)
		}
		results = append(results, more...)
	}
	if len(results) == 0 {
		return &failure{status: statusUsage, err: fmt.Errorf("no encrypted file found in %s", alternatives(args)), hint: "name the repository's folder, or an encrypted file"}
	}
	warnAbove(s, results)
	printOverruled(s, rules)
	if !o.Compare {
		if err := writeSealed(ctx, results); err != nil {
			return err
		}
	}
	return tellUpdates(s, results, o, format)
}

// encryptedFiles returns the file that an argument names, or the encrypted files in the folder that it names.
// found reports whether the files come from a folder.
func encryptedFiles(ctx context.Context, arg string) (files []string, found bool, err error) {
	info, err := os.Stat(arg)
	if err != nil || !info.IsDir() {
		return []string{arg}, false, nil //nolint:nilerr // reading the file returns the error
	}
	files, err = sealed.FindEncrypted(ctx, arg, nil)
	return files, true, err
}

func tellUpdates(s streams, results []sealed.Result, o sealed.UpdateOptions, format string) error {
	changes := func(r sealed.Result) bool { return r.Action == sealed.Updated || r.Action == sealed.Rotated }
	if format == formatJSON {
		if err := writeJSON(s.out, reportOf(results, o.Compare)); err != nil {
			return err
		}
	} else {
		changed := 0
		for _, res := range results {
			if changes(res) {
				changed++
			}
			printUpdate(s, res, o.Compare)
		}
		verb := "changed"
		if o.Compare {
			verb = "would change"
		}
		_ = output.Printf(s.out, "%s, %d %s\n", finding.Count(len(results), "encrypted file"), changed, verb)
	}
	leaves := slices.ContainsFunc(results, func(r sealed.Result) bool { return len(r.Change.Removed) > 0 })
	if leaves && !o.Rotate {
		_ = output.Printf(s.err, "note: removed recipients still know the data keys, and can read every value of these files, now and later\n  hint: %s, then replace the values that they could read\n", "fleetwright secrets updatekeys --rotate")
	}
	if o.Compare && slices.ContainsFunc(results, changes) {
		return findingsStatus()
	}
	return nil
}

// printUpdate prints what happened to a file, and nothing if the file was already correct.
func printUpdate(s streams, res sealed.Result, check bool) {
	would := ""
	if check {
		would = "would be "
	}
	switch res.Action {
	case sealed.NoRule:
		_ = output.Printf(s.out, "%s: no rule of .sops.yaml matches it, not changed\n", res.File)
	case sealed.Updated:
		_ = output.Printf(s.out, "%s: recipients %supdated, data key unchanged\n", res.File, would)
	case sealed.Rotated:
		_ = output.Printf(s.out, "%s: %sencrypted again, with a new data key\n", res.File, would)
	}
	for _, r := range res.Change.Added {
		_ = output.Printf(s.out, "  + %s %s\n", r.Service, r.ID)
	}
	for _, r := range res.Change.Removed {
		_ = output.Printf(s.out, "  - %s %s\n", r.Service, r.ID)
	}
	if res.Change.Groups {
		_ = output.Printf(s.out, "  the key groups, or the number of groups that is needed to decrypt, change\n")
	}
}
