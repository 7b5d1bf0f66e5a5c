package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

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
		Long: `Encrypt files in place with SOPS: to the recipients, and of the values, that the first
matching rule of the nearest .sops.yaml names. The sops command and Flux decrypt what
it writes. No private key is needed, and no key service is asked.

Without FILE, encrypt all files below the working directory that a rule is for and whose
name has .sops. or .enc. in it, and by rules with a path_regex also Secrets with values
in YAML and JSON, and files of variables (.env, .ini) that hold a password or token.

An encrypted file stays as it is, byte by byte. Either all files are encrypted or, when
one of them can't be or the command is interrupted, none. A file is replaced as a whole, with its mode; no value
in plaintext is written anywhere else.

Without a .sops.yaml, or with one that is broken or has a misspelt field, nothing is
encrypted, and the command fails. A file that somebody saves while the command
writes stays as it was saved, and is reported. What a killed run left is finished, or
taken back, by the next one.

Exit status 1 when an encrypted Secret still holds values in plaintext, which the rule
doesn't choose or somebody added, and, without FILE, when something that looks like a
secret stays in plaintext because no rule is for it, or when a file may hold a Secret
and cannot be parsed or is larger than 10 MB.`,
		Example: `  fleetwright secrets encrypt apps/db.sops.yaml
  fleetwright secrets encrypt --stdout apps/db.sops.yaml
  fleetwright secrets encrypt`,
		RunE: func(c *cobra.Command, args []string) error {
			if stdout && (len(args) != 1 || format == formatJSON) {
				return usage(c, errors.New("--stdout prints one FILE, as it is"))
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
	rules := sealed.NewRules()
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
	tellAbove(s, results)
	if stdout {
		return errors.Join(printSealed(s, results[0]), tellClear(s, results))
	}
	if err := writeSealed(ctx, results); err != nil {
		return err
	}
	if format == formatJSON {
		return errors.Join(writeJSON(s.out, reportOf(results, false)), tellClear(s, results), tellLeft(s, left))
	}
	done := 0
	for _, res := range results {
		if res.Action == sealed.Kept {
			_ = output.Printf(s.out, "%s: is encrypted already, and stays as it is\n", res.File)
			continue
		}
		done++
		_ = output.Printf(s.out, "%s: encrypted for %s\n", res.File, spell(res.Recipients))
	}
	_ = output.Printf(s.out, "%s encrypted\n", finding.Count(done, "file"))
	return errors.Join(tellClear(s, results), tellLeft(s, left))
}

// tellLeft tells of files that look like secrets and that no rule wants encrypted.
func tellLeft(s streams, left error) error {
	if left == nil {
		return nil
	}
	for _, one := range apart(left) {
		_ = output.Printf(s.err, "%s\n", output.Lines(withHint(one.Error(), hintOf(one))))
	}
	return found()
}

// printSealed prints an encrypted file byte for byte: where it can't, since the file could steer the
// terminal or the build that it is printed to, the file is refused.
func printSealed(s streams, res sealed.Result) error {
	if err := output.Check(res.Content); err != nil {
		return &failure{status: statusStopped, err: fmt.Errorf("%s is not printed: %w", position(res.File, 0, 0), err), hint: "encrypt the file in place, without --stdout"}
	}
	_, err := output.Raw(s.out).Write(res.Content)
	return err
}

// tellClear tells of values that are in plaintext in encrypted files.
func tellClear(s streams, results []sealed.Result) error {
	var told error
	for _, res := range results {
		hint := "the rule of .sops.yaml doesn't choose it: see its encrypted_regex"
		if res.Action == sealed.Kept {
			hint = "it was added to the encrypted file: take it out, and add it with sops edit"
		}
		for _, c := range res.Clear {
			_ = output.Printf(s.err, "%s: %q stands in plaintext\n  hint: %s\n", position(res.File, c.Line, c.Column), c.Name, hint)
			told = found()
		}
	}
	return told
}
