package sops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Plaintext is the rule sops-plaintext-secret.
var Plaintext = rule.Rule{
	ID:       "sops-plaintext-secret",
	Title:    "a plaintext Secret",
	Severity: finding.Error,
	Why: `Everybody with access to the repository, its clones, its forks or its history can read the Secret. base64 is not
encryption.

A value is judged by its key, by known forms of credentials and by its entropy. A Secret in which nothing looks
like a credential (durations, ports, hosts, networks, images and words do not) is a warning, unless other values
of it are references. A Secret that contains only placeholders that a user must replace ("changeme",
<your-token>) is a warning, too.

The rule also checks:

- Secrets that a cluster applies from another branch of the clone, such as a tenant's, or from --source, in which
  something looks like a credential;
- files of any format that a rule of .sops.yaml matches and that are named like encrypted files (.sops., .enc.):
  the values that sops would encrypt;
- the Secret in kubectl's annotation last-applied-configuration, also in encrypted files;
- files of variables (.env), with or without a rule of .sops.yaml for them;
- places in a Secret where the API server accepts no values: a list, a misspelt field, a tag or an anchor that
  is probably a password;
- templates, including those of charts, and files that cannot be parsed and mention a Secret: strings that look
  like a credential.

The rule does not report references (${VAR}, {{ … }}, op://…, an empty value), public values (certificates, public keys,
user names, hosts), and files in folders of examples and tests that no cluster reads.`,
	Fix: `Encrypt the file (fleetwright secrets encrypt FILE, or sops encrypt --in-place FILE), or store the value
elsewhere (External Secrets). Rotate values that were pushed: they are exposed.`,
	Run: func(p *rule.Pass) {
		countedConfigs(p)
		reported := map[string]bool{}
		eachSecret(p, func(o *repository.Object) {
			if secrets.StateOfDocument(o.Document) == secrets.Encrypted {
				return // sops-partial reports it
			}
			keys := plaintextKeys(o.Node)
			hint := "if one of its values is secret, encrypt it (fleetwright secrets encrypt " + o.File() + "); otherwise use a ConfigMap"
			if len(keys) == 0 {
				keys, hint = fillersOf(o), "the cluster gets the placeholder: set the real value and encrypt it (fleetwright secrets encrypt "+o.File()+"), or remove the Secret from Git"
			}
			isLikely := len(likelyOf(keys)) > 0
			if len(keys) == 0 || !isLikely && (refers(o) || !real(p, o.File()) || p.Repo.Use(o.File()) == repository.Chart) || isLikely && !realIn(p, o.File()) {
				return
			}
			reported[o.File()] = true
			f := finding.Finding{Object: rule.ObjectOf(o), Place: finding.Place{File: o.File(), Line: keys[0].line, Column: keys[0].column},
				Message: fmt.Sprintf("%s is in plaintext; nothing in it looks like a credential", o),
				Hint:    hint}
			f.Severity = finding.Warning
			if likely := likelyOf(keys); len(likely) > 0 {
				f.Severity, f.Line, f.Column = finding.Error, likely[0].line, likely[0].column
				f.Message, f.Hint = fmt.Sprintf("%s holds %s in plaintext", o, listed(likely)), fixHint(p, o.File())
			}
			p.Report(f)
		})
		ofSources(p, reported)
		lastApplied(p)
		unread(p)
		read := generatorFiles(p) // sops-generator-plaintext reports these files
		for _, file := range p.Repo.Paths() {
			if !reported[file] && !wanted(p, file) && !read[file] {
				variables(p, file)
			}
		}
		all := texts.Of(p)
		for _, file := range all.secrets {
			stray(p, file)
		}
		all.report(p)
	},
}

// ofSources reports the plaintext Secrets that clusters apply from sources that were not fetched: other branches, and
// checkouts of other repositories. It skips files of this repository that are already reported: it may contain a
// checkout.
func ofSources(p *rule.Pass, reported map[string]bool) {
	fetched := p.Fleet().Fetched()
	for _, c := range p.Clusters() {
		for _, k := range c.Kustomizations {
			if k.Repo == nil || k.Repo == p.Whole() || k.Spec.SourceRef.Kind == "ExternalArtifact" || slices.Contains(fetched, k.Repo) {
				continue
			}
			for _, o := range k.Objects {
				if o.Source == nil || reported[o.File] || o.Encrypted || o.Group != "" || o.Kind != "Secret" {
					continue
				}
				if likely := likelyOf(plaintextKeys(o.Source.Node)); len(likely) > 0 {
					p.ReportBuilt(o, finding.Finding{Place: finding.Place{File: o.File, Line: likely[0].line, Column: likely[0].column},
						Message: fmt.Sprintf("%s holds %s in plaintext", o, listed(likely)),
						Hint:    "encrypt it where it is committed, and rotate the value: it is exposed"})
				}
			}
		}
	}
}

// wanted reports a plaintext file that a rule of .sops.yaml requires to be encrypted, or that has the name of
// an encrypted file. It returns whether it reported one.
func wanted(p *rule.Pass, file string) bool {
	format := secrets.FormatOf(file)
	if named := secrets.IsNamedEncrypted(file); !named && format != secrets.Dotenv && format != secrets.INI {
		return false // Secrets were checked already, and other files cannot be parsed
	}
	data, err := p.Repo.ReadFile(file)
	if err != nil || secrets.IsEncrypted(file, data) || secrets.StateOf(file, data) == secrets.Broken && holdsEncrypted(p, file) { // sops-broken reports it
		return false
	}
	var r *secrets.CreationRule
	config := secrets.ConfigFor(configs.Of(p), file)
	if config != nil {
		r = config.For(file)
	}
	var values []secrets.ClearValue
	message, hint := "its name says that it is encrypted", fixHint(p, file)
	if r != nil && r.Wants(file, data) {
		values, _ = secrets.ClearIn(file, data, r.Selection)
		message = fmt.Sprintf("line %d of %s sets its recipients", r.Line, config.File)
	}
	if len(values) == 0 && secrets.IsNamedEncrypted(file) {
		values = likely(file, data)
		if r != nil {
			message = fmt.Sprintf("line %d of %s selects no value in it", r.Line, config.File)
			hint = fmt.Sprintf("sops would leave it unencrypted: fix encrypted_regex (or the similar field), run fleetwright secrets encrypt %s, and rotate the value: it is exposed", file)
		}
	}
	if len(values) == 0 || !real(p, file) {
		return false
	}
	value := values[0]
	if i := slices.IndexFunc(values, ofData); i >= 0 {
		value = values[i]
	}
	f := finding.Finding{Place: finding.Place{File: file}, Secret: true, Message: fmt.Sprintf("the file is not encrypted; %s", message), Hint: hint}
	if name := value.Name; name != "" {
		f.Message = fmt.Sprintf("the file holds %q in plaintext; %s", name, message)
	}
	if known, ok := p.Repo.File(file); !ok || !known.FromItems {
		f.Line, f.Column = value.Line, value.Column
	}
	p.Report(f)
	return true
}

// likely returns the plaintext values of a file to which no rule applies, beginning with the first likely secret. It
// returns none if the file has no likely secret.
func likely(file string, data []byte) []secrets.ClearValue {
	setting := credential.SettingIn(string(data))
	if setting == "" && credential.TokenIn(string(data)) == "" {
		return nil
	}
	all, _ := secrets.ClearIn(file, data, secrets.Selection{})
	i := slices.IndexFunc(all, func(v secrets.ClearValue) bool { return v.Name == setting || strings.HasSuffix(v.Name, "."+setting) })
	if i >= 0 {
		return all[i:]
	}
	return all
}

// ofData reports whether a value is in the data of an object, and not in its metadata.
func ofData(v secrets.ClearValue) bool {
	return strings.HasPrefix(v.Name, "data.") || strings.HasPrefix(v.Name, "stringData.")
}

// eachSecret calls a function for the Secrets of all files, including those in a SecretList.
func eachSecret(p *rule.Pass, check func(*repository.Object)) {
	for _, f := range p.Repo.Files() {
		for _, d := range f.Documents {
			for _, o := range secrets.Objects(d) {
				check(o)
			}
		}
	}
}
