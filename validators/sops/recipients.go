package sops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// RecipientMissing is the rule sops-recipient-missing.
var RecipientMissing = rule.Rule{
	ID:       "sops-recipient-missing",
	Title:    "an encrypted file that a key of its rule cannot decrypt",
	Severity: finding.Warning,
	Why: `.sops.yaml defines which keys can decrypt files that are encrypted from now on. A key that is added later cannot decrypt
files that were encrypted before: a new colleague cannot edit the file, and a new cluster cannot apply it.`,
	Fix: `Run "fleetwright secrets updatekeys FILE", or "sops updatekeys FILE", with a key that can decrypt the file.`,
	Run: func(p *rule.Pass) {
		eachRuled(p, func(e encrypted, r ruling) {
			for _, missing := range without(r.Recipients, e.meta.Recipients()) {
				p.Report(finding.Finding{Place: finding.Place{File: e.File.Path, Line: e.meta.Line, Column: e.meta.Column},
					Message: fmt.Sprintf("%s %s, which %s lists, cannot decrypt this file", missing.Service, missing.ID, r.by(missing.Line)),
					Hint:    updateHint(r.specified, e.File.Path, false)})
			}
		})
	},
}

// RecipientStale is the rule sops-recipient-stale.
var RecipientStale = rule.Rule{
	ID:       "sops-recipient-stale",
	Title:    "an encrypted file that a removed key can still decrypt",
	Severity: finding.Warning,
	Why: `A key was removed from .sops.yaml, but the file is still encrypted to it: the owner of the key can still read
the file in the repository.

The owner of the key may also have kept the values, so replace the values, too.`,
	Fix: `Run "fleetwright secrets updatekeys --rotate FILE", or "sops updatekeys FILE" and "sops rotate --in-place FILE",
for a new data key, and replace the values that the removed key could read.`,
	Run: func(p *rule.Pass) {
		eachRuled(p, func(e encrypted, r ruling) {
			for _, stale := range without(e.meta.Recipients(), r.Recipients) {
				p.Report(finding.Finding{Place: finding.Place{File: e.File.Path, Line: stale.Line, Column: stale.Column},
					Message: fmt.Sprintf("%s %s can decrypt this file, but %s does not list it", stale.Service, stale.ID, r.by(r.Line)),
					Hint:    updateHint(r.specified, e.File.Path, true)})
			}
		})
	},
}

// RuleMissing is the rule sops-rule-missing.
var RuleMissing = rule.Rule{
	ID:       "sops-rule-missing",
	Title:    "an encrypted file that no rule of .sops.yaml matches",
	Severity: finding.Warning,
	Why: `SOPS uses the first rule whose path_regex matches the path of the file, relative to the folder of the nearest
.sops.yaml. If no rule matches, "sops updatekeys" refuses the file: changes to the recipients do not reach it.
Usually the file was renamed, or a .sops.yaml in a subfolder hides the one at the root.`,
	Fix: `Add a rule, or rename the file so that one matches.`,
	Run: func(p *rule.Pass) {
		countedConfigs(p)
		all := configs.Of(p)
		for _, c := range all {
			if c.Err != nil && !c.Err.Limit {
				p.Report(finding.Finding{Place: finding.Place{File: c.File, Line: c.Err.Line, Column: c.Err.Column}, Message: c.Err.Message})
			}
		}
		reported := map[string]bool{}
		for _, e := range ciphertexts.Of(p) {
			c := secrets.ConfigFor(all, e.File.Path)
			if c == nil || c.Err != nil || len(c.Rules) == 0 || c.For(e.File.Path) != nil || reported[e.File.Path] || !real(p, e.File.Path) || isSpecified(p, e.File.Path) {
				continue
			}
			reported[e.File.Path] = true
			p.Report(finding.Finding{Place: finding.Place{File: e.File.Path, Line: e.meta.Line, Column: e.meta.Column},
				Message: fmt.Sprintf("no rule of %s matches this file", c.File), Hint: fmt.Sprintf("add a rule whose path_regex matches %q", e.File.Path)})
		}
	},
}

// RuleUnused is the rule sops-rule-unused.
var RuleUnused = rule.Rule{
	ID:       "sops-rule-unused",
	Title:    "an unreachable rule of .sops.yaml",
	Severity: finding.Info,
	Why: `SOPS uses the first rule that matches. A rule below one that matches all files, or below one with the same
path_regex, is never used: its keys cannot decrypt anything, although .sops.yaml lists them.`,
	Fix: `Move the rule above the one that matches its files, or remove it.`,
	Run: func(p *rule.Pass) {
		countedConfigs(p)
		for _, c := range configs.Of(p) {
			for i, r := range c.Rules {
				by := slices.IndexFunc(c.Rules[:i], func(earlier secrets.CreationRule) bool {
					return earlier.PathRegex == "" || earlier.PathRegex == r.PathRegex
				})
				if by >= 0 {
					p.Report(finding.Finding{Place: finding.Place{File: c.File, Line: r.Line, Column: r.Column},
						Message: fmt.Sprintf("no file reaches this rule: the rule at line %d matches all files first", c.Rules[by].Line)})
				}
			}
		}
	},
}

// isSpecified reports whether the specification has a rule for a file, which the next render writes.
func isSpecified(p *rule.Pass, file string) bool {
	r, ok := rulingOf(p, file)
	return ok && r.specified
}

// eachRuled calls a function for the first document of each encrypted file, with the rule for it. SOPS uses the
// same keys for all documents of a file.
func eachRuled(p *rule.Pass, check func(encrypted, ruling)) {
	countedConfigs(p)
	reported := map[string]bool{}
	for _, e := range ciphertexts.Of(p) {
		if reported[e.File.Path] || !real(p, e.File.Path) {
			continue
		}
		reported[e.File.Path] = true
		if r, ok := rulingOf(p, e.File.Path); ok && len(r.Recipients) > 0 {
			own := *r.CreationRule // the configuration's own rule must stay unchanged for other rules
			own.Recipients = slices.DeleteFunc(slices.Clone(r.Recipients), isPlaceholder)
			if r.CreationRule = &own; len(own.Recipients) > 0 {
				check(e, r)
			}
		}
	}
}

// isPlaceholder reports whether a recipient is not an age key but a placeholder: sops refuses to encrypt with it.
func isPlaceholder(r secrets.Recipient) bool {
	return r.Service == "age" && !strings.HasPrefix(strings.ToLower(r.ID), "age1") && !strings.HasPrefix(r.ID, "ssh-")
}

// updateHint returns a hint about how to change the recipients of a file. With rotate it also changes the data key, which
// the owner of a removed key knows.
func updateHint(specified bool, file string, rotate bool) string {
	hint := "with a key that can decrypt it: "
	if specified {
		hint += "fleetwright render, then "
	}
	if rotate {
		return hint + fmt.Sprintf("fleetwright secrets updatekeys --rotate %s (or sops updatekeys %s, then sops rotate --in-place %s), since the removed key knows the data key", file, file, file)
	}
	return hint + fmt.Sprintf("fleetwright secrets updatekeys %s (or sops updatekeys %s)", file, file)
}

// without returns the recipients in all that are not in others, each once.
func without(all, others []secrets.Recipient) []secrets.Recipient {
	var left []secrets.Recipient
	for _, r := range all {
		if !slices.ContainsFunc(others, r.Same) && !slices.ContainsFunc(left, r.Same) {
			left = append(left, r)
		}
	}
	return left
}

// sopsConfig and encryptedSecret are parts of the examples: a .sops.yaml, and a file that is encrypted according to it.
