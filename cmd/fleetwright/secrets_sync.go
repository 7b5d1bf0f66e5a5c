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
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
	"github.com/fleetwright/fleetwright/render/declared"
)

func newSecretsSync(s streams) *cobra.Command {
	var o declared.Options
	var format string
	var graph graphFlags
	c := &cobra.Command{
		Use:   "sync [DIR]",
		Short: "Create the Secrets that the specification declares, encrypted",
		Long: `Create the missing files of the Secrets that the specification in DIR/fleet (by default
the working directory) declares under spec.secrets of its Encryption. Values come from
the environment, from files, or are generated. Each file is encrypted to the recipients
that the rendered .sops.yaml names for it. The next render lists the new files in their
kustomizations.

An existing file is not changed unless its declaration changed. To add or remove declared
keys, or to change the type, labels or annotations, the command needs a private key that
opens the file, and looks for it where sops does. Changed recipients are updated as by
"fleetwright secrets updatekeys": a removed recipient still knows the data key until the
file is rotated with "fleetwright secrets updatekeys --rotate". Keys that somebody added
with sops, and that were never declared, are kept and reported.

With --rotate NAME (or NAMESPACE/NAME) a declared Secret gets new values: what is
generated is generated again, and files and variables are read again; the key of a
variable that is not set, or of a file that does not exist, keeps its value. If no value
would change, nothing is written and the command fails. Rotating needs a private key
that opens the file. Other declared Secrets are not changed. The objects that read the
Secret are printed, with what each
needs to get the new value: a workload with the value in its environment must restart.

Files outside of DIR that the specification reads are reported. Hidden files there, such
as ~/.ssh/id_rsa, and system files are read only with --allow-outside: a specification
that a stranger wrote may name the stranger as a recipient. For the same reason,
variables of SOPS, and in CI (where CI is set) variables in which CI systems and clouds
keep credentials, such as GITHUB_TOKEN and AWS_SECRET_ACCESS_KEY, are read only with
--allow-env NAME.

The public keys of generated key pairs are printed and written to the Secret's
annotations; the public key of a tenant's own key is added to the tenant's recipients in
the specification. No value is printed. If one file cannot be written, none is.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return runSecretsSync(c.Context(), s, folderArgument(args), o, format, graph)
		},
	}
	c.Flags().BoolVar(&o.Check, "check", false, "read no value and write nothing; print what would change, and exit with 1 if anything would")
	c.Flags().BoolVar(&o.Outside, "allow-outside", false, "allow values from hidden files and system files outside of DIR; otherwise they are refused")
	c.Flags().StringSliceVar(&o.Variables, "allow-env", nil, "allow values from the environment variable `NAME`, although it belongs to SOPS, CI or a cloud and may contain your credentials (repeatable)")
	c.Flags().StringSliceVar(&o.Rotate, "rotate", nil, "generate or read new values for the declared Secret `NAME` or NAMESPACE/NAME, and print the objects that read it (repeatable)")
	formatFlag(c, &format)
	graph.fetched = fetchedCharts(s.env)
	return c
}

func runSecretsSync(ctx context.Context, s streams, dir string, o declared.Options, format string, graph graphFlags) error {
	o.Env, o.Now, o.Keys = s.env, time.Now(), func() *keys.Identities { return keys.Find(s.env) }
	out, err := declared.Sync(ctx, dir, o)
	err = syncError(err)
	var read readersOf
	if err == nil && len(o.Rotate) > 0 {
		read = findReaders(ctx, graph, out)
	}
	if format == formatJSON {
		report := syncReportOf(out, o.Check, read)
		if err != nil {
			_, text := explain(err)
			report.Errors = strings.Split(text, "\n")
			report.Secrets = []syncedSecret{}
		}
		err = errors.Join(writeJSON(s.out, report), err)
	} else if err == nil {
		printSync(s, out, dir, o.Check, read)
	}
	if err == nil && o.Check && out.Any() {
		return findingsStatus()
	}
	return err
}

// syncError returns the error for one or several errors, each with its hint.
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
	if len(all) < 2 && (len(all) == 0 || advice.HintOf(all[0]) == "") {
		return err
	}
	status, texts := statusUsage, []string(nil)
	for _, one := range all {
		code, text := explain(one)
		status = max(status, code)
		if hint := advice.HintOf(one); hint != "" && !strings.Contains(text, hint) {
			text = withHint(text, hint)
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return &failure{status: status, err: errors.New(strings.Join(texts, "\n"))}
}

// printSync prints what was changed, or with check what would be, and the next steps.
func printSync(s streams, out declared.Outcome, dir string, check bool, read readersOf) {
	printRecovery(s, out.Root, out.Recovery)
	kept, removed := 0, []string(nil)
	for _, r := range out.Results {
		if r.Action == declared.Keep {
			kept++
			printKept(s, r)
			continue
		}
		_ = output.Printf(s.out, "%s: Secret %s: %s%s\n", r.Path, r.Secret, map[bool]string{true: "would ", false: ""}[check], actionText(r, check))
		printKept(s, r)
		read.print(s, r)
		for _, reader := range r.Readers.Removed {
			if r.Action == declared.Rotate {
				continue // the Secret has a new data key and new values
			}
			removed = append(removed, r.Path)
			_ = output.Printf(s.out, "  %s still knows its data key\n", shownReader(reader))
		}
		for _, k := range r.Secret.Keys {
			if public := r.PublicKeys[k.Name]; public != "" {
				_ = output.Printf(s.out, "  public key of %s: %s\n", k.Name, public)
				if r.Repository != "" {
					printDeployKey(s, r)
				}
			}
		}
	}
	for _, file := range out.Outside {
		_ = output.Printf(s.err, "note: the specification takes a value from %s, which is outside of the repository\n", file)
	}
	if out.Specification != "" {
		_ = output.Printf(s.out, "%s: the public keys of tenants' own keys were added to their recipients\n", path.Join(shownDir(out.Root), out.Specification))
	}
	if kept > 0 {
		_ = output.Printf(s.out, "%s as declared\n", finding.Count(kept, "Secret"))
	}
	if len(removed) > 0 && !check {
		_ = output.Printf(s.out, "removed recipients still know the values they have read, and the data key: \"fleetwright secrets updatekeys --rotate %s\" generates a new one\n",
			strings.Join(slices.Compact(removed), " "))
	}
	switch {
	case len(out.Results) == 0:
		_ = output.Printf(s.out, "the specification declares no Secret\n")
	case check && out.Any():
		_ = output.Printf(s.err, "declared Secrets are not up to date\n  hint: run \"fleetwright secrets sync%s\"\n", strings.Join(append([]string{withDir(dir)}, rotated(out)...), ""))
	case !check:
		_ = output.Printf(s.out, "next: fleetwright render%s\n", withDir(dir))
	}
}

// rotated returns the flags that rotate the Secrets of a plan.
func rotated(out declared.Outcome) []string {
	var flags []string
	for _, r := range out.Results {
		if r.Action == declared.Rotate {
			flags = append(flags, " --rotate "+r.Secret.String())
		}
	}
	return flags
}

// printDeployKey prints where the user has to add the public key of a deploy key.
func printDeployKey(s streams, r declared.Result) {
	if !strings.HasPrefix(r.Repository, "ssh:") {
		_ = output.Printf(s.out, "  %s is read with a token, not with a deploy key: declare username and password, or write an ssh:// URL\n", r.Repository)
		return
	}
	place := emit.DeployKeys(r.Repository)
	if place == "" {
		place = "its settings"
	}
	when := ""
	if r.Action == declared.Rotate {
		when = " before you push, and remove the old one when Flux reads with the new one"
	}
	_ = output.Printf(s.out, "  add it to %s as a deploy key that can only read%s: %s\n", r.Repository, when, place)
}

// printKept prints the keys that somebody added to a Secret.
func printKept(s streams, r declared.Result) {
	if len(r.KeysKept) > 0 {
		_ = output.Printf(s.err, "note: %s: %s not declared, and kept: declare it, or remove it with sops edit\n", r.Path, strings.Join(r.KeysKept, ", "))
	}
}

// actionText describes what happens to a Secret.
func actionText(r declared.Result, check bool) string {
	form := func(would, did string) string {
		if check {
			return would
		}
		return did
	}
	switch r.Action {
	case declared.Create:
		return form("be created", "created") + ", with " + strings.Join(r.KeysAdded, ", ")
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
		return form("be encrypted again", "encrypted again") + " (" + strings.Join(parts, "; ") + ")"
	case declared.Reencrypt:
		return form("have its recipients updated", "recipients updated") + fmt.Sprintf(" (%d added, %d removed)", len(r.Readers.Added), len(r.Readers.Removed))
	case declared.Publish:
		return form("get its public key added", "its public key was added") + " to the specification"
	case declared.Rotate:
		same := ""
		if len(r.KeysSame) > 0 {
			same = "; as before: " + strings.Join(r.KeysSame, ", ")
		}
		return form("get new values", "new values") + " of " + strings.Join(r.KeysRotated, ", ") + same
	case declared.Keep:
	}
	return form("not change", "not changed")
}

func shownReader(r secrets.Recipient) string {
	if r.Service == "age" {
		return r.ID
	}
	return r.Service + " " + r.ID
}

// syncReport is the JSON output of secrets sync. Fields may be added and are never renamed; lists are never null.
type syncReport struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Check      bool   `json:"check"`
	// Specification is the file to which public keys were added.
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
	KeysRotated    []string        `json:"keysRotated"`
	KeysSame       []string        `json:"keysSame"`
	Changed        []string        `json:"changed"`
	ReadersAdded   []string        `json:"readersAdded"`
	ReadersRemoved []string        `json:"readersRemoved"`
	PublicKeys     []publicKey     `json:"publicKeys"`
	// ReadBy are the objects that read a rotated Secret. UnknownReaders are the reasons why other objects may read it, too.
	ReadBy         []secretReader `json:"readBy"`
	UnknownReaders []string       `json:"unknownReaders"`
}

type publicKey struct {
	Key       string `json:"key"`
	PublicKey string `json:"publicKey"`
}

func syncReportOf(out declared.Outcome, check bool, read readersOf) syncReport {
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
			KeysAdded: list(r.KeysAdded), KeysRemoved: list(r.KeysRemoved), KeysKept: list(r.KeysKept), KeysRotated: list(r.KeysRotated), KeysSame: list(r.KeysSame), Changed: list(r.Changed),
			ReadersAdded: readers(r.Readers.Added), ReadersRemoved: readers(r.Readers.Removed), PublicKeys: []publicKey{},
			ReadBy: read.report(r), UnknownReaders: list(read.open(r)),
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
