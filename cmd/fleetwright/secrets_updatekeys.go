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
		Short: "Give encrypted files to those whom .sops.yaml names now",
		Long: `Give encrypted files to the recipients that the rules of .sops.yaml name now: add who is
missing, take out who isn't named. Without FILE or DIR, all encrypted files below the
working directory.

The data key of a file stays, and so do the values as they are encrypted: who was taken
out still knows the data key of every file they could read. --rotate makes new data
keys and encrypts the values anew; that is what removing someone needs, beside new
values for what they have read.

A private key that opens the files is needed to add someone and to rotate; it is
looked for where sops does: SOPS_AGE_KEY, SOPS_AGE_KEY_FILE,
SOPS_AGE_SSH_PRIVATE_KEY_FILE, sops/age/keys.txt of the user's configuration, ~/.ssh.
Keys of other services (PGP, KMS, Vault) are kept as they are; to add one, or to
rotate a file that has one, run sops.

A file that is right stays as it is, byte by byte. Either all files are changed or,
when one of them can't be, none.`,
		Example: `  fleetwright secrets updatekeys --check
  fleetwright secrets updatekeys
  fleetwright secrets updatekeys --rotate apps clusters/production`,
		RunE: func(c *cobra.Command, args []string) error {
			return runUpdateKeys(c.Context(), s, args, sealed.UpdateOptions{Rotate: rotate, Compare: check, Now: time.Now()}, format)
		},
	}
	format = formatText
	c.Flags().BoolVar(&rotate, "rotate", false, "make new data keys and encrypt the values anew")
	c.Flags().BoolVar(&check, "check", false, "write nothing, say what would change, and exit with 1 when something would")
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
	rules := sealed.NewRules()
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
		return &failure{status: statusUsage, err: fmt.Errorf("there is no encrypted file in %s", alternatives(args)), hint: "name the repository's folder, or an encrypted file"}
	}
	tellAbove(s, results)
	if !o.Compare {
		if err := writeSealed(ctx, results); err != nil {
			return err
		}
	}
	return tellUpdates(s, results, o, format)
}

// encryptedFiles are those that an argument names, or that are in the folder that it names.
func encryptedFiles(ctx context.Context, arg string) (files []string, found bool, err error) {
	info, err := os.Stat(arg)
	if err != nil || !info.IsDir() {
		return []string{arg}, false, nil //nolint:nilerr // who reads the file tells why not
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
			tellUpdate(s, res, o.Compare)
		}
		verb := "changed"
		if o.Compare {
			verb = "would change"
		}
		_ = output.Printf(s.out, "%s, %d %s\n", finding.Count(len(results), "encrypted file"), changed, verb)
	}
	leaves := slices.ContainsFunc(results, func(r sealed.Result) bool { return len(r.Change.Removed) > 0 })
	if leaves && !o.Rotate {
		_ = output.Printf(s.err, "note: who is taken out still knows the data keys, and with them every value of these files, now and later\n  hint: %s, then make new values of what they could read\n", "fleetwright secrets updatekeys --rotate")
	}
	if o.Compare && slices.ContainsFunc(results, changes) {
		return found()
	}
	return nil
}

// tellUpdate says what became of a file, of those that are right nothing.
func tellUpdate(s streams, res sealed.Result, check bool) {
	would := ""
	if check {
		would = "would be "
	}
	switch res.Action {
	case sealed.NoRule:
		_ = output.Printf(s.out, "%s: no rule of .sops.yaml is for it, and it stays as it is\n", res.File)
	case sealed.Updated:
		_ = output.Printf(s.out, "%s: %sgiven to others, with the data key that it has\n", res.File, would)
	case sealed.Rotated:
		_ = output.Printf(s.out, "%s: %sencrypted anew, with a new data key\n", res.File, would)
	}
	for _, r := range res.Change.Added {
		_ = output.Printf(s.out, "  + %s %s\n", r.Service, r.ID)
	}
	for _, r := range res.Change.Removed {
		_ = output.Printf(s.out, "  - %s %s\n", r.Service, r.ID)
	}
	if res.Change.Groups {
		_ = output.Printf(s.out, "  the key groups, or how many of them are needed, change\n")
	}
}
