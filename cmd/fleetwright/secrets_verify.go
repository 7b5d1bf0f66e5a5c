package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/regular"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/envelope"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
	"github.com/fleetwright/fleetwright/internal/secrets/sealed"
	"github.com/fleetwright/fleetwright/validators"
	"github.com/fleetwright/fleetwright/validators/sops"
)

func newSecretsVerify(s streams) *cobra.Command {
	var decrypt bool
	var format string
	c := &cobra.Command{
		Use:   "verify [DIR]",
		Short: "Show who can read each encrypted file, and who should",
		Long: `Compare, for each encrypted file in DIR, who can read it with who should: the readers that
the specification names, whatever .sops.yaml says, or without a specification the readers
in the rule of .sops.yaml; and the clusters and tenants that apply the file. Readers
are listed by their names in the specification's Encryption, and people by the comment
beside their key; other recipients are listed by their keys.

No private key is needed and nothing is fetched. --decrypt also opens the files with the
private keys that are available locally and compares their checksums; no decrypted value
is printed.

Exit status 1 when they differ, or when a file that should be encrypted is readable by
everybody. validate reports the same findings, by the rules sops-recipient-missing,
sops-recipient-stale, sops-rule-missing, sops-decryption-missing, sops-undecryptable,
sops-plaintext-secret and sops-partial.`,
		Example: `  fleetwright secrets verify
  fleetwright secrets verify --decrypt --format json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return runSecretsVerify(c.Context(), s, folderArgument(args), decrypt, format)
		},
	}
	format = formatText
	c.Flags().BoolVar(&decrypt, "decrypt", false, "open the files with the private keys that are available locally, and compare their checksums")
	c.Flags().Var(oneOf(&format, formatText, formatJSON), "format", "print `FORMAT`: text or json")
	return c
}

// accessReport is the JSON output of secrets verify. Fields may be added and are never renamed; lists are never null.
type accessReport struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Readers    []accessReader    `json:"readers"`
	Files      []accessFile      `json:"files"`
	Findings   []finding.Finding `json:"findings"`
	Summary    accessSummary     `json:"summary"`
}

type accessReader struct {
	Scope string         `json:"scope"`
	Name  string         `json:"name"`
	Keys  []keyRecipient `json:"keys"`
}

type accessFile struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Config string `json:"config"`
	Rule   int    `json:"rule"`
	// Specified reports whether the rule comes from the specification, as render writes it to Config.
	Specified bool         `json:"specified"`
	Readers   []accessCell `json:"readers"`
	// Checksum is "right", "wrong", or "closed" if no key decrypts the file; "" without --decrypt.
	Checksum string `json:"checksum,omitempty"`
	problem  error
	// above is the .sops.yaml above the folder that sops uses for the file; "" without one.
	above string
}

type accessCell struct {
	Scope string `json:"scope"`
	Name  string `json:"name"`
	// Can is "yes", "no", or "share" if other key groups are required, too.
	Can     string   `json:"can"`
	Should  bool     `json:"should"`
	Named   bool     `json:"named"`
	Applies []string `json:"applies"`
}

type accessSummary struct {
	Files   int `json:"files"`
	Readers int `json:"readers"`
	// Differ is the number of files that somebody can decrypt but should not, or should be able to decrypt but cannot.
	Differ   int `json:"differ"`
	Findings int `json:"findings"`
}

func runSecretsVerify(ctx context.Context, s streams, dir string, decrypt bool, format string) error {
	repo, err := loadRepository(dir)
	if err != nil {
		return err
	}
	var access sops.Access
	judged, err := validators.Run(ctx, repo, validators.Options{Rules: sops.AccessRules(&access)})
	if err != nil {
		return err
	}
	failed := addOthers(ctx, &access, repo, dir)
	if len(access.Files) == 0 && failed == nil {
		return &failure{status: statusUsage, err: fmt.Errorf("no encrypted file found in %q", dir), hint: "create encrypted files with fleetwright secrets sync or encrypt, or name another folder; fleetwright validate finds secrets in plaintext"}
	}
	r := newAccessReport(access, judged.Findings)
	r.lookAbove(dir)
	if decrypt {
		failed = errors.Join(failed, r.open(ctx, dir, keys.Find(s.env)))
	}
	if format == formatJSON {
		err = writeJSON(s.out, r)
	} else {
		err = r.writeText(s.out)
	}
	switch {
	case err != nil || failed != nil:
		return errors.Join(err, sealedError(failed))
	case r.Summary.Differ+r.Summary.Findings > 0:
		return findingsStatus()
	}
	return nil
}

func newAccessReport(a sops.Access, findings []finding.Finding) *accessReport {
	r := &accessReport{APIVersion: v1alpha1.APIVersion, Kind: "SecretsAccess", Readers: []accessReader{}, Files: []accessFile{}, Findings: []finding.Finding{}}
	r.Findings = append(r.Findings, findings...)
	for _, h := range a.Holders {
		r.Readers = append(r.Readers, accessReader{string(h.Scope), h.Name, keyRecipients(h.Keys)})
	}
	for _, f := range a.Files {
		file := accessFile{File: f.File, Line: f.Line, Config: f.Config, Rule: f.Rule, Specified: f.Specified, Readers: []accessCell{}}
		for _, c := range f.Cells {
			h := a.Holders[c.Holder]
			cell := accessCell{Scope: string(h.Scope), Name: h.Name, Can: "no", Should: c.Should(), Named: c.Named, Applies: append([]string{}, c.Applies...)}
			if c.Recipient {
				cell.Can = "share"
			}
			if c.Alone {
				cell.Can = "yes"
			}
			file.Readers = append(file.Readers, cell)
		}
		r.Files = append(r.Files, file)
		if file.differs() {
			r.Summary.Differ++
		}
	}
	r.Summary.Files, r.Summary.Readers, r.Summary.Findings = len(r.Files), len(r.Readers), len(r.Findings)
	return r
}

// differs reports whether somebody can decrypt a file but should not, or should be able to decrypt it but cannot.
func (f accessFile) differs() bool {
	for _, c := range f.Readers {
		if f.verdict(c) != "" {
			return true
		}
	}
	return false
}

// verdict describes the difference between a cell and the rule; "" without one.
func (f accessFile) verdict(c accessCell) string {
	switch {
	case c.Can == "no" && len(c.Applies) > 0:
		return "cannot read it, but should: " + strings.Join(c.Applies, ", ") + " applies it"
	case c.Can == "share" && len(c.Applies) > 0:
		return "has only one share of the key, but should read it: " + strings.Join(c.Applies, ", ") + " applies it"
	case c.Can == "no" && c.Named:
		return fmt.Sprintf("cannot read it, but should: %s names it", f.by())
	case c.Can != "no" && !c.Should && f.Config != "":
		return fmt.Sprintf("can read it, but should not: %s does not name it", f.by())
	}
	return ""
}

// lookAbove finds the .sops.yaml above the folder for files that have none in the folder.
func (r *accessReport) lookAbove(dir string) {
	rules := sealed.NewRules(specifiedRules)
	for i := range r.Files {
		f := &r.Files[i]
		if f.Config != "" {
			continue
		}
		if _, config, err := rules.For(filepath.Join(dir, filepath.FromSlash(f.File))); err == nil {
			f.above = config.File
		}
	}
}

// by names the source of the rule that says who should read the file.
func (f accessFile) by() string {
	if f.Specified {
		return "the specification"
	}
	return fmt.Sprintf("line %d of %s", f.Rule, f.Config)
}

// mostSealed is the maximum size in bytes of an encrypted file that is read.
const mostSealed = 64 << 20

// open decrypts the files with private keys and verifies their checksums.
func (r *accessReport) open(ctx context.Context, dir string, ids *keys.Identities) error {
	var failed []error
	for i := range r.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := &r.Files[i]
		data, err := regular.Read(filepath.Join(dir, filepath.FromSlash(f.File)), mostSealed)
		if err == nil {
			err = envelope.Check(f.File, data, ids)
		}
		f.Checksum, f.problem = "right", err
		if e := (*envelope.Error)(nil); errors.As(err, &e) && e.Reason == envelope.NoKey {
			f.Checksum = "closed"
		} else if err != nil {
			f.Checksum = "wrong"
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// addOthers adds the encrypted files that are not YAML or JSON documents. The error is about files with
// incomplete metadata, in any format.
func addOthers(ctx context.Context, access *sops.Access, repo *repository.Repository, dir string) error {
	name := func(file string) string {
		if below, err := filepath.Rel(dir, file); err == nil {
			return filepath.ToSlash(below)
		}
		return file
	}
	files, err := sealed.FindEncrypted(ctx, dir, func(file string) bool {
		f, known := repo.File(name(file))
		return known && f.Err == nil && len(f.Documents) > 0 && secrets.StateOfDocument(f.Documents[0]) == secrets.Encrypted
	})
	failed := []error{err}
	for _, file := range files {
		data, err := regular.Read(file, mostSealed)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		meta, err := envelope.Metadata(name(file), data)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		access.Add(name(file), meta)
	}
	return errors.Join(failed...)
}

func (r *accessReport) writeText(w io.Writer) error {
	b := output.Buffered(w)
	for _, f := range r.Files {
		mark := "✓"
		if f.differs() || f.Checksum == "wrong" {
			mark = "✗"
		}
		var can, wrong []string
		for _, c := range f.Readers {
			name := c.Scope + " " + c.Name
			if text := f.verdict(c); text != "" {
				wrong = append(wrong, name+" "+text)
				continue
			}
			if c.Can == "share" {
				name += " (a share)"
			}
			can = append(can, name)
		}
		at := f.File
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		_ = output.Printf(b, "%s %s  %s\n", mark, at, strings.Join(can, ", "))
		for _, text := range wrong {
			_ = output.Printf(b, "    %s\n", text)
		}
		if f.Config == "" {
			_ = output.Printf(b, "    no rule of a %s names who should read it\n", ".sops.yaml")
		}
		if f.above != "" {
			_ = output.Printf(b, "    sops uses %s, which is above the repository: clones do not contain it, and it is not compared\n", f.above)
		}
		if f.Checksum == "closed" {
			_ = output.Printf(b, "    no private key that is available locally opens it: its checksum is not compared\n")
		}
	}
	for _, f := range r.Findings {
		switch f.Rule {
		case sops.DecryptionMissing.ID, sops.RuleMissing.ID, sops.Plaintext.ID, sops.Partial.ID:
			_ = output.Printf(b, "%s:%d:%d: %s: %s [%s]\n", f.File, f.Line, f.Column, f.Severity, f.Message, f.Rule)
		}
	}
	if r.Summary.Differ > 0 {
		first := "fix .sops.yaml"
		if slices.ContainsFunc(r.Files, func(f accessFile) bool { return f.Specified && f.differs() }) {
			first = "fleetwright render"
		}
		_ = b.Printf("  hint: %s, then fleetwright secrets updatekeys, with --rotate if a reader is removed\n", first)
	}
	_ = output.Printf(b, "%s, %s: %d as they should be, %d not\n", finding.Count(len(r.Files), "encrypted file"), finding.Count(len(r.Readers), "reader"), len(r.Files)-r.Summary.Differ, r.Summary.Differ)
	return b.Flush()
}
