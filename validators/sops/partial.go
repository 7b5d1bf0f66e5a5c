package sops

import (
	"errors"
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Partial is the rule sops-partial.
var Partial = rule.Rule{
	ID:       "sops-partial",
	Title:    "a plaintext value in a file that SOPS encrypted",
	Severity: finding.Error,
	Why: `The file looks encrypted, but a part of it is not: somebody added a value with an editor, or the rule's
encrypted_regex does not match the field. A manual edit also breaks the checksum, so that Flux refuses the file. With
mac_only_encrypted it does not break the checksum, and the value stays in plaintext.

In files of all formats, the rule reports each value that the file's metadata select (encrypted_regex and the
like), whatever its name is. In a Secret, it reports other values if the metadata select nothing of the field, or if the
value is very likely a secret: all other values were left readable on purpose.`,
	Fix: `Encrypt the value with "sops FILE" (which opens the file in plaintext and encrypts it again), or "sops set". If
the rule's encrypted_regex does not match the field, correct it, and encrypt the file again.`,
	Run: func(p *rule.Pass) { eachFile(p, partialDocuments, partialFile) },
}

// eachFile calls documents for each file with documents, except those of charts, and other for each other file
// that SOPS may have encrypted.
func eachFile(p *rule.Pass, documents func(*rule.Pass, *repository.File), other func(*rule.Pass, string)) {
	for _, f := range p.Repo.Files() {
		if p.Repo.Use(f.Path) != repository.Chart {
			documents(p, f)
		}
	}
	for _, file := range p.Repo.Paths() {
		if _, known := p.Repo.File(file); !known && mayBePartial(file) {
			other(p, file)
		}
	}
}

// partialDocuments reports the plaintext values in an encrypted YAML or JSON file. The metadata of the first
// document apply to all. sops-plaintext-secret reports Secrets without metadata.
func partialDocuments(p *rule.Pass, f *repository.File) {
	for _, d := range f.Documents {
		first := f.Documents[0]
		switch {
		case secrets.StateOfDocument(d) == secrets.Encrypted:
			first = d
		case secrets.StateOfDocument(first) != secrets.Encrypted || slices.ContainsFunc(d.Objects, isSecret):
			continue
		}
		values, err := secrets.ClearInDocument(d, first)
		undecided(p, f.Path, d.Line, err)
		what, object := "the file", finding.Object{}
		if len(d.Objects) == 1 {
			what, object = d.Objects[0].String(), rule.ObjectOf(d.Objects[0])
		}
		for _, value := range values {
			if !real(p, f.Path) {
				return
			}
			one := finding.Finding{Object: object, Place: finding.Place{File: f.Path, Line: value.Line, Column: value.Column}, Secret: true,
				Message: fmt.Sprintf("%s holds %q in plaintext next to encrypted values", what, value.Name),
				Hint:    addedHint(f.Path)}
			if value.Unmatched != "" {
				one.Message = fmt.Sprintf("%s holds %q in plaintext: the file's encrypted_regex matches neither the key nor its field", what, value.Name)
				one.Hint = regexHint(p, f.Path, value.Unmatched)
			}
			p.Report(one)
		}
	}
}

// mayBePartial reports whether a file without documents is in a format in which SOPS encrypts individual
// values, so that a plaintext value may have been added.
func mayBePartial(file string) bool {
	switch secrets.FormatOf(file) {
	case secrets.Dotenv, secrets.INI, secrets.JSON:
		return true
	}
	return false
}

// partialFile reports the plaintext values in an encrypted file of another format.
func partialFile(p *rule.Pass, file string) {
	data, err := p.Repo.ReadFile(file)
	if err != nil || !secrets.IsEncrypted(file, data) || !real(p, file) {
		return
	}
	values, err := secrets.ClearIn(file, data, secrets.Selection{})
	undecided(p, file, 0, err)
	for _, value := range values {
		p.Report(finding.Finding{Place: finding.Place{File: file, Line: value.Line, Column: value.Column}, Secret: true,
			Message: fmt.Sprintf("the file holds %q in plaintext next to encrypted values", value.Name), Hint: addedHint(file)})
	}
}

// undecided reports why it is unknown whether all values of an encrypted file are encrypted, if it is.
func undecided(p *rule.Pass, file string, line int, err error) {
	var limit *count.Error
	var unread *repository.Error
	switch {
	case err == nil:
	case errors.As(err, &limit), errors.As(err, &unread) && unread.Reason.IsLimit():
		p.Report(rule.Exceeded(finding.Finding{Place: finding.Place{File: file, Line: line}}, "the encryption of "+file, err.Error()))
	default:
		p.Unresolved(finding.Place{File: file, Line: line}, "whether all values are encrypted: "+err.Error())
	}
}

// regexHint returns the hint for a wrong encrypted_regex: sops edit would leave the value as it is.
func regexHint(p *rule.Pass, file, regex string) string {
	where := "the rule for it in .sops.yaml"
	if r, ok := rulingOf(p, file); ok && !r.specified && r.EncryptedRegex == regex {
		where = r.by(r.Line)
	}
	return fmt.Sprintf("correct encrypted_regex in %s, remove the field sops from the file, and encrypt it: sops encrypt --in-place %s", where, file)
}

func addedHint(file string) string {
	return fmt.Sprintf("remove it, and add it again with: sops edit %s", file)
}
