package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/secrets/sealed"
)

func newSecretsEncrypt(s streams) *cobra.Command {
	var stdout bool
	var format string
	c := &cobra.Command{
		Use:   "encrypt [FILE…]",
		Short: "Encrypt files in place, as .sops.yaml says",
		Long: `Encrypt files in place with SOPS. The first matching rule of the nearest .sops.yaml
names the recipients and the values to encrypt. The sops command and Flux can decrypt
the files. No private key is needed, and no key service is contacted.

Without FILE, encrypt all files below the working directory that a rule matches and whose
name contains .sops. or .enc.; where the rule has a path_regex, also Secrets with values
in YAML and JSON, and variable files (.env, .ini) that contain a password or token.

A file that is already encrypted is not changed. If one file cannot be encrypted, or the
command is interrupted, no file is changed. A file is replaced as a whole and keeps its
mode; values in plaintext are not written anywhere else.

If .sops.yaml does not exist, is invalid or has a misspelt field, nothing is
encrypted and the command fails. A file that somebody saves while the command writes is
kept as it was saved, and reported. If a run is killed, the next run finishes its writes
or rolls them back.

Exit status 1 when an encrypted Secret still contains values in plaintext, because the
rule does not choose them or because somebody added them. Without FILE, also when
something that looks like a secret stays in plaintext because no rule matches it, or when
a file may contain a Secret and cannot be parsed or is larger than 10 MB.`,
		Example: `  fleetwright secrets encrypt apps/db.sops.yaml
  fleetwright secrets encrypt --stdout apps/db.sops.yaml
  fleetwright secrets encrypt`,
		RunE: func(c *cobra.Command, args []string) error {
			if stdout && (len(args) != 1 || format == formatJSON) {
				return usage(c, errors.New("--stdout prints one FILE: name exactly one"))
			}
			return runEncrypt(c.Context(), s, args, stdout, format)
		},
	}
	format = formatText
	c.Flags().BoolVar(&stdout, "stdout", false, "print the encrypted file instead of writing it")
	c.Flags().Var(oneOf(&format, formatText, formatJSON), "format", "print `FORMAT`: text or json")
	return c
}

func runEncrypt(ctx context.Context, s streams, files []string, stdout bool, format string) error {
	if !stdout {
		if err := finishWrites(ctx, s, format, files); err != nil {
			return err
		}
	}
	rules := sealed.NewRules(specifiedRules)
	var left error
	if len(files) == 0 {
		found, leftOver, err := rules.FindPlain(ctx, ".")
		if err != nil {
			return sealedError(err)
		}
		files, left = found, leftOver
	}
	results, err := rules.Encrypt(ctx, files, time.Now())
	if err != nil {
		return sealedError(err)
	}
	warnAbove(s, results)
	printOverruled(s, rules)
	if stdout {
		return errors.Join(printSealed(s, results[0]), printPlaintext(s, results))
	}
	if err := writeSealed(ctx, results); err != nil {
		return err
	}
	if format == formatJSON {
		return errors.Join(writeJSON(s.out, reportOf(results, false)), printPlaintext(s, results), printLeft(s, left))
	}
	done := 0
	for _, res := range results {
		if res.Action == sealed.Kept {
			_ = output.Printf(s.out, "%s: already encrypted, not changed\n", res.File)
			continue
		}
		done++
		_ = output.Printf(s.out, "%s: encrypted for %s\n", res.File, joinRecipients(res.Recipients))
	}
	_ = output.Printf(s.out, "%s encrypted\n", finding.Count(done, "file"))
	return errors.Join(printPlaintext(s, results), printLeft(s, left))
}

// printLeft prints the files that look like secrets although no rule requires their encryption.
func printLeft(s streams, left error) error {
	if left == nil {
		return nil
	}
	for _, one := range splitErrors(left) {
		_ = output.Printf(s.err, "%s\n", output.Lines(withHint(one.Error(), advice.HintOf(one))))
	}
	return findingsStatus()
}

// printSealed prints an encrypted file byte for byte. It refuses a file that could control the terminal, or the
// CI system that shows the output.
func printSealed(s streams, res sealed.Result) error {
	if err := output.Check(res.Content); err != nil {
		return &failure{status: statusStopped, err: fmt.Errorf("cannot print %s: %w", position(finding.Place{File: res.File}), err), hint: "encrypt the file in place, without --stdout"}
	}
	_, err := output.Raw(s.out).Write(res.Content)
	return err
}

// printPlaintext prints the plaintext values in encrypted files.
func printPlaintext(s streams, results []sealed.Result) error {
	var err error
	for _, res := range results {
		hint := "the rule of .sops.yaml does not choose it: see its encrypted_regex"
		if res.Action == sealed.Kept {
			hint = "it was added after the file was encrypted: remove it, and add it with sops edit"
		}
		for _, c := range res.Clear {
			_ = output.Printf(s.err, "%s: %q is in plaintext\n  hint: %s\n", position(finding.Place{File: res.File, Line: c.Line, Column: c.Column}), c.Name, hint)
			err = findingsStatus()
		}
	}
	return err
}
