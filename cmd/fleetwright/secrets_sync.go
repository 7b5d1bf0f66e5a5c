package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
	"github.com/fleetwright/fleetwright/render/declared"
)

func newSecretsSync(s streams) *cobra.Command {
	var o declared.Options
	var format string
	c := &cobra.Command{
		Use:   "sync [DIR]",
		Short: "Make the Secrets that the specification declares, encrypted",
		Long: `Make the files of the Secrets that the specification in DIR/fleet (by default the
working directory) declares under spec.secrets of its Encryption, where they are
absent: with values from the environment, from files, or made up, encrypted to those
whom the rendered .sops.yaml names for the file. Then render lists them.

A file that is there stays byte for byte, unless something that is declared of it
changed. Keys that are declared anew or no longer, and another type, labels or
annotations, take a private key that opens the file: it is looked for where sops
does. Other readers are exchanged as "fleetwright secrets updatekeys" does it: who
was taken out still knows the data key until the file is rotated, which
"fleetwright secrets updatekeys --rotate" does. To make a value anew, remove the
file. Keys that were never declared, which somebody added with sops, are kept and
told of.

Files outside of DIR that the specification asks for are told of; hidden ones there,
such as ~/.ssh/id_rsa, and the system's are read with --allow-outside alone: with a
stranger's specification, a stranger may be among those who can decrypt. The same
goes for variables: those of SOPS, and in CI (where CI is set) those that CI systems
and clouds keep credentials in, such as GITHUB_TOKEN and AWS_SECRET_ACCESS_KEY, are
read with --allow-env NAME alone.

The public keys of what was made are printed, and stand in the Secret's annotations;
that of a tenant's own key is added to the tenant's recipients in the specification.
No value is printed. Either all files are written or, when one can't be, none.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return runSecretsSync(c.Context(), s, folderArgument(args), o, format)
		},
	}
	c.Flags().BoolVar(&o.Check, "check", false, "read no value and write nothing; say what would be done, and exit with 1 when something would")
	c.Flags().BoolVar(&o.Outside, "allow-outside", false, "let values come from hidden files and the system's, outside of DIR, which are refused otherwise")
	c.Flags().StringSliceVar(&o.Variables, "allow-env", nil, "let values come from these variables, in which credentials of your own or of CI are kept")
	formatFlag(c, &format)
	return c
}

func runSecretsSync(ctx context.Context, s streams, dir string, o declared.Options, format string) error {
	o.Env, o.Now, o.Keys = s.env, time.Now(), func() *keys.Identities { return keys.Find(s.env) }
	out, err := declared.Sync(ctx, dir, o)
	err = syncError(err)
	if format == formatJSON {
		report := syncReportOf(out, o.Check)
		if err != nil {
			_, text := explain(err)
			report.Errors = strings.Split(text, "\n")
			report.Secrets = []syncedSecret{}
		}
		err = errors.Join(writeJSON(s.out, report), err)
	} else if err == nil {
		printSync(s, out, dir, o.Check)
	}
	if err == nil && o.Check && out.Any() {
		return found()
	}
	return err
}

// syncError gives errors that may be several, each with its way out.
func syncError(err error) error {
	var all []error
	var gather func(error)
	gather = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, one := range joined.Unwrap() {
				gather(one)
			}
		} else if err != nil {
			all = append(all, err)
		}
	}
	gather(err)
	if len(all) < 2 && (len(all) == 0 || hintOf(all[0]) == "") {
		return err
	}
	status, texts := statusUsage, []string(nil)
	for _, one := range all {
		code, text := explain(one)
		status = max(status, code)
		if hint := hintOf(one); hint != "" && !strings.Contains(text, hint) {
			text = withHint(text, hint)
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return &failure{status: status, err: errors.New(strings.Join(texts, "\n"))}
}

// printSync says what was done, or would be, and what comes next.
func printSync(s streams, out declared.Outcome, dir string, check bool) {
	printRecovery(s, out.Root, out.Recovery)
	kept, removed := 0, []string(nil)
	for _, r := range out.Results {
		if r.Action == declared.Keep {
			kept++
			tellKept(s, r)
			continue
		}
		_ = output.Printf(s.out, "%s: Secret %s: %s%s\n", r.Path, r.Secret, map[bool]string{true: "would ", false: ""}[check], actionText(r, check))
		tellKept(s, r)
		for _, reader := range r.Readers.Removed {
			removed = append(removed, r.Path)
			_ = output.Printf(s.out, "  %s still knows its data key\n", shownReader(reader))
		}
		for _, k := range r.Secret.Keys {
			if public := r.PublicKeys[k.Name]; public != "" {
				_ = output.Printf(s.out, "  public key of %s: %s\n", k.Name, public)
			}
		}
	}
	for _, file := range out.Outside {
		_ = output.Printf(s.err, "note: %s, outside of the repository, was read for a value, as the specification asks\n", file)
	}
	if out.Specification != "" {
		_ = output.Printf(s.out, "%s: the public keys of tenants' own keys were added to their recipients\n", path.Join(shownDir(out.Root), out.Specification))
	}
	if kept > 0 {
		_ = output.Printf(s.out, "%s as declared\n", finding.Count(kept, "Secret"))
	}
	if len(removed) > 0 && !check {
		_ = output.Printf(s.out, "who was taken out keeps what they have read, and the data key: \"fleetwright secrets updatekeys --rotate %s\" makes a new one\n",
			strings.Join(slices.Compact(removed), " "))
	}
	switch {
	case len(out.Results) == 0:
		_ = output.Printf(s.out, "the specification declares no Secret\n")
	case check && out.Any():
		_ = output.Printf(s.err, "declared Secrets are not up to date\n  hint: run \"fleetwright secrets sync%s\"\n", withDir(dir))
	case !check:
		_ = output.Printf(s.out, "next: fleetwright render%s\n", withDir(dir))
	}
}

// tellKept tells of keys that somebody added to a Secret.
func tellKept(s streams, r declared.Result) {
	if len(r.KeysKept) > 0 {
		_ = output.Printf(s.err, "note: %s: %s not declared, and kept as it stands: declare it, or take it out with sops edit\n", r.Path, strings.Join(r.KeysKept, ", "))
	}
}

// actionText says in words what becomes of a Secret.
func actionText(r declared.Result, check bool) string {
	form := func(would, did string) string {
		if check {
			return would
		}
		return did
	}
	switch r.Action {
	case declared.Create:
		return form("be made", "made") + ", with " + strings.Join(r.KeysAdded, ", ")
	case declared.Change:
		var parts []string
		for _, part := range []struct {
			what string
			list []string
		}{{"keys added: ", r.KeysAdded}, {"keys removed: ", r.KeysRemoved}, {"otherwise: ", r.Changed}} {
			if len(part.list) > 0 {
				parts = append(parts, part.what+strings.Join(part.list, ", "))
			}
		}
		return form("be encrypted anew", "encrypted anew") + " (" + strings.Join(parts, "; ") + ")"
	case declared.Give:
		return form("be given to other readers", "given to other readers") + fmt.Sprintf(" (%d added, %d taken out)", len(r.Readers.Added), len(r.Readers.Removed))
	case declared.Publish:
		return form("get its public key added", "its public key was added") + " to the specification"
	case declared.Keep:
	}
	return form("stay as it is", "as it was")
}

func shownReader(r secrets.Recipient) string {
	if r.Service == "age" {
		return r.ID
	}
	return r.Service + " " + r.ID
}

// syncReport is what secrets sync prints with --format json. Fields may be added
// and are never renamed; lists are never null.
type syncReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Check      bool   `json:"check"`
	// Specification is the file that public keys were added to.
	Specification string         `json:"specification"`
	Secrets       []syncedSecret `json:"secrets"`
	Errors        []string       `json:"errors"`
}

type syncedSecret struct {
	Path           string          `json:"path"`
	Namespace      string          `json:"namespace"`
	Name           string          `json:"name"`
	Clusters       []string        `json:"clusters"`
	Action         declared.Action `json:"action"`
	KeysAdded      []string        `json:"keysAdded"`
	KeysRemoved    []string        `json:"keysRemoved"`
	KeysKept       []string        `json:"keysKept"`
	Changed        []string        `json:"changed"`
	ReadersAdded   []string        `json:"readersAdded"`
	ReadersRemoved []string        `json:"readersRemoved"`
	PublicKeys     []publicKey     `json:"publicKeys"`
}

type publicKey struct {
	Key       string `json:"key"`
	PublicKey string `json:"publicKey"`
}

func syncReportOf(out declared.Outcome, check bool) syncReport {
	report := syncReport{APIVersion: v1alpha1.APIVersion, Kind: "SecretsSyncReport", Check: check, Specification: out.Specification, Secrets: []syncedSecret{}, Errors: []string{}}
	list := func(names []string) []string { return append([]string{}, names...) }
	readers := func(all []secrets.Recipient) []string {
		names := []string{}
		for _, r := range all {
			names = append(names, shownReader(r))
		}
		return names
	}
	for _, r := range out.Results {
		one := syncedSecret{
			Path: r.Path, Namespace: r.Secret.Namespace, Name: r.Secret.Name, Clusters: list(r.Clusters), Action: r.Action,
			KeysAdded: list(r.KeysAdded), KeysRemoved: list(r.KeysRemoved), KeysKept: list(r.KeysKept), Changed: list(r.Changed),
			ReadersAdded: readers(r.Readers.Added), ReadersRemoved: readers(r.Readers.Removed), PublicKeys: []publicKey{},
		}
		for _, k := range r.Secret.Keys {
			if public := r.PublicKeys[k.Name]; public != "" {
				one.PublicKeys = append(one.PublicKeys, publicKey{k.Name, public})
			}
		}
		report.Secrets = append(report.Secrets, one)
	}
	return report
}
