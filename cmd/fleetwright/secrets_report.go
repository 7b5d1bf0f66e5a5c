package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/replace"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/envelope"
	"github.com/fleetwright/fleetwright/internal/secrets/sealed"
	"github.com/fleetwright/fleetwright/internal/strict"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// secretsReport is the JSON output of secrets encrypt and updatekeys. Fields may be added and are never renamed; lists
// are never null.
type secretsReport struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Check      bool         `json:"check"`
	Files      []sealedFile `json:"files"`
}

type sealedFile struct {
	File       string         `json:"file"`
	Action     sealed.Action  `json:"action"`
	Added      []keyRecipient `json:"added"`
	Removed    []keyRecipient `json:"removed"`
	Regrouped  bool           `json:"regrouped"`
	Recipients []keyRecipient `json:"recipients"`
}

type keyRecipient struct {
	Service string `json:"service"`
	ID      string `json:"id"`
}

func keyRecipients(all []secrets.Recipient) []keyRecipient {
	list := []keyRecipient{}
	for _, r := range all {
		list = append(list, keyRecipient{r.Service, r.ID})
	}
	return list
}

func reportOf(results []sealed.Result, check bool) secretsReport {
	r := secretsReport{APIVersion: v1alpha1.APIVersion, Kind: "SecretsReport", Check: check, Files: []sealedFile{}}
	for _, res := range results {
		r.Files = append(r.Files, sealedFile{res.File, res.Action, keyRecipients(res.Change.Added), keyRecipients(res.Change.Removed), res.Change.Groups, keyRecipients(res.Recipients)})
	}
	return r
}

// joinRecipients joins recipients on one line.
func joinRecipients(all []secrets.Recipient) string {
	var names []string
	for _, r := range all {
		name := r.ID
		if r.Service != "age" {
			name = r.Service + " " + name
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// sealedError returns the error for one or several errors about files, with their hints and the exit status.
func sealedError(err error) error {
	if err == nil {
		return nil
	}
	status, texts := statusUsage, []string(nil)
	for _, one := range splitErrors(err) {
		if e := (*envelope.Error)(nil); errors.As(one, &e) && (e.Reason == envelope.NoKey || e.Reason == envelope.OtherService) {
			status = statusStopped
		}
		text := withHint(errorText(one), advice.HintOf(one))
		if e := (*strict.Error)(nil); errors.As(one, &e) {
			text = e.Text()
		}
		if !slices.Contains(texts, text) { // several files may have the same error about the specification
			texts = append(texts, text)
		}
	}
	return &failure{status: status, err: errors.New(strings.Join(texts, "\n"))}
}

// finishWrites completes or undoes an interrupted write in the folders that the arguments name, and in the
// working directory.
func finishWrites(ctx context.Context, s streams, format string, args []string) error {
	dirs := []string{"."}
	for _, arg := range args {
		if info, err := os.Stat(arg); err != nil || !info.IsDir() {
			arg = filepath.Dir(arg)
		}
		if !slices.Contains(dirs, arg) {
			dirs = append(dirs, arg)
		}
	}
	finished, err := replace.Recover(ctx, dirs...)
	if format == formatText {
		for _, r := range finished {
			printRecovery(s, r.Root, r.Recovery)
		}
	}
	if err != nil {
		return &failure{status: statusStopped, err: err, hint: advice.HintOf(err)}
	}
	return nil
}

// writeSealed writes results to their files.
func writeSealed(ctx context.Context, results []sealed.Result) error {
	err := sealed.Write(ctx, results)
	if changed := (*tree.ChangedError)(nil); errors.As(err, &changed) {
		return &failure{status: statusStopped, err: err, hint: "run the command again for these files"}
	}
	if err != nil {
		return &failure{status: statusStopped, err: fmt.Errorf("writing: %w", err), hint: "allow writes to this file and run the command again"}
	}
	return nil
}

// printOverruled prints each .sops.yaml of the user that the specification overrules.
func printOverruled(s streams, rules *sealed.Rules) {
	for _, file := range rules.Overruled() {
		_ = output.Printf(s.err, "note: the specification decides who can decrypt, not %s, which Fleetwright did not generate\n  hint: change the recipients in the specification; rules of %s count only for files that it has no rule for\n", file, secrets.ConfigName)
	}
}

// warnAbove warns about a .sops.yaml above the Git repository of the files: sops uses it, but a clone of the repository
// does not contain it.
func warnAbove(s streams, results []sealed.Result) {
	printed := map[string]bool{}
	for _, res := range results {
		if res.Config == "" || printed[res.Config] {
			continue
		}
		printed[res.Config] = true
		root, _, inside := gitrepo.Around(filepath.Dir(res.File))
		config, err := filepath.Abs(res.Config)
		if err != nil || !inside {
			continue
		}
		if whole, err := filepath.EvalSymlinks(filepath.Dir(config)); err == nil {
			config = filepath.Join(whole, filepath.Base(config))
		}
		if below, err := filepath.Rel(root, config); err == nil && !filepath.IsLocal(below) {
			_ = output.Printf(s.err, "note: %s names who can decrypt, but it is above the repository, and clones do not contain it\n  hint: write a %s into %s\n", res.Config, secrets.ConfigName, root)
		}
	}
}

// splitErrors returns the individual errors of a joined error.
func splitErrors(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, splitErrors(one)...)
	}
	return all
}
