package sops

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Unread reports the files that cannot be parsed and may contain a secret, because the rules do not search such files. A
// template counts only if it has a likely credential outside its actions.
func Unread(repo *repository.Repository) []finding.Finding {
	var found []finding.Finding
	for _, f := range repo.Files() {
		if f.Err == nil || f.Err.Reason.IsLimit() { // limit-exceeded reports it
			continue
		}
		text, err := repo.ReadFile(f.Path)
		if err != nil {
			continue
		}
		message, hint := "the file may hold a Secret in plaintext: it "+f.Err.Message, f.Err.Hint
		if hint == "" {
			hint = "fix the file, so that it can be checked"
		}
		line, column := f.Err.Line, f.Err.Column
		switch {
		case f.Err.Template:
			name, at := inTemplate(text)
			if name == "" {
				continue
			}
			message, hint = fmt.Sprintf("the template holds %s in plaintext", name), templateHint
			line, column = at, 1
		case secrets.IsNamedEncrypted(f.Path), secrets.SpeaksOfSecret(text), settingIn(string(text)) > 0, drawnIn(string(text)) > 0:
		default:
			continue
		}
		found = append(found, finding.Finding{Rule: "sops-plaintext-secret", Severity: finding.Error, Place: finding.Place{File: f.Path, Line: line, Column: column}, Secret: true,
			Message: message, Hint: hint})
	}
	return found
}

// unread reports the files that cannot be parsed and certainly contain a plaintext Secret, or have the name of
// an encrypted file. Files that may contain one are reported by [Unread], for the Git hook.
func unread(p *rule.Pass) {
	speaking := texts.Of(p).secrets
	for _, f := range p.Repo.Files() {
		if f.Err == nil || f.Err.Reason.IsLimit() || !secrets.IsNamedEncrypted(f.Path) && !slices.Contains(speaking, f.Path) || !realIn(p, f.Path) {
			continue
		}
		text, err := p.Repo.ReadFile(f.Path)
		if err != nil || secrets.StateOf(f.Path, text) != secrets.Plaintext {
			continue
		}
		found := finding.Finding{Place: finding.Place{File: f.Path, Column: 1}, Secret: true}
		var name string
		if f.Err.Template {
			name, found.Line = inTemplate(text)
			found.Message, found.Hint = fmt.Sprintf("the template holds %s in plaintext", name), templateHint
		} else {
			name, found.Line = inBroken(string(text))
			found.Message = fmt.Sprintf("the file holds %s in plaintext; it also %s", name, f.Err.Message)
			found.Hint = fixHint(p, f.Path)
		}
		if name != "" {
			p.Report(found)
		}
	}
}

// inBroken returns the name of a plaintext secret in an unparseable text, and its line; "" if there is none.
func inBroken(text string) (name string, line int) {
	if name, line := heldIn(text); name != "" {
		return strconv.Quote(name), line
	}
	if line := settingIn(text); line > 0 {
		return "what looks like a credential", line
	}
	if line := drawnIn(text); line > 0 {
		return "what looks like a credential", line
	}
	return "", 0
}

// dataLine matches the line that begins the values of a Secret.
var dataLine = regexp.MustCompile(`^([ \t]*)["']?(data|stringData)["']?[ \t]*:[ \t]*\r?\n?$`)

// heldIn returns the first likely credential in the Secrets of an unparseable text, which it reads line by
// line.
func heldIn(text string) (name string, line int) {
	number := 0
	for _, document := range strings.SplitAfter(text, "\n---") {
		isSecret, field, indent := secrets.SpeaksOfSecret([]byte(document)), "", 0
		for line := range strings.Lines(document) {
			if strings.HasSuffix(line, "\n") {
				number++
			}
			begins := len(line) - len(strings.TrimLeft(line, " \t"))
			if at := dataLine.FindStringSubmatch(line); at != nil {
				field, indent = at[2], begins
				continue
			}
			if !isSecret || field == "" || strings.TrimSpace(line) == "" {
				continue
			}
			if begins <= indent {
				field = ""
				continue
			}
			key, value, _ := strings.Cut(line, ":")
			key, value = strings.Trim(key, "\"' \t"), credential.Unquoted(strings.TrimSpace(value))
			if field == "data" {
				value = secrets.Decoded(value)
			}
			if value != "" && len(line) <= limits.SettingsBytes && credential.Judge(key, value) == credential.Likely {
				return key, number
			}
		}
	}
	return "", 0
}

// inTemplate returns the name of a plaintext secret in a template outside its actions, and its line; "" if there is none.
func inTemplate(text []byte) (name string, line int) {
	held, _ := secretsInText(text) // a text that cannot be parsed is searched for settings instead
	for _, one := range held {
		if likely := likelyOf(one.clear); len(likely) > 0 {
			return listed(likely), likely[0].line
		}
	}
	if line := settingIn(withoutActions(string(text))); line > 0 {
		return "what looks like a credential", line
	}
	return "", 0
}

// settingIn returns the number of the first line that sets a likely secret; 0 if there is none.
func settingIn(text string) int {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if credential.SettingIn(line) != "" || credential.TokenIn(line) != "" {
			return number
		}
	}
	return 0
}

// drawnIn returns the number of the first line whose value looks random, whatever its name is; 0 if there is
// none.
func drawnIn(text string) int {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if at := wholeValue.FindStringSubmatch(line); at != nil && isDrawn(at[1]) {
			return number
		}
	}
	return 0
}

// wholeValue matches a line of YAML whose value is one word.
var wholeValue = regexp.MustCompile(`^[ \t]*(?:- +)?(?:[A-Za-z0-9_."'-]+:[ \t]+)?["'*&!@%]?([^ \t"']+)["']?[ \t]*\r?\n?$`)

// isDrawn reports whether a value looks random, whatever its name is. Names of fields and kinds have few
// digits.
func isDrawn(value string) bool {
	groups := len(strings.FieldsFunc(value, func(r rune) bool { return r < '0' || r > '9' }))
	return groups > 2 && len(value) >= leastUnnamed && !strings.ContainsAny(value, "/.:") && credential.IsRandom(value) && !credential.IsEvident(value) && !credential.IsPlaceholder(value)
}

// stray reports a Secret with a likely credential in a file without the extension of YAML, such as a template
// or an editor's backup.
func stray(p *rule.Pass, file string) {
	if _, known := p.Repo.File(file); known || secrets.IsNamedEncrypted(file) || !realIn(p, file) {
		return
	}
	data, err := p.Repo.ReadFile(file)
	if err != nil {
		return
	}
	held, limit := secretsInText(data)
	if limit != nil {
		p.Report(rule.Exceeded(finding.Finding{Place: finding.Place{File: file, Line: limit.Line, Column: limit.Column}}, file, limit.Message))
	}
	for _, one := range held {
		if likely := likelyOf(one.clear); len(likely) > 0 {
			p.Report(finding.Finding{Object: rule.ObjectOf(one.object), Place: finding.Place{File: file, Line: likely[0].line, Column: likely[0].column}, Secret: true,
				Message: fmt.Sprintf("%s holds %s in plaintext, in a file without a YAML extension", one.object, listed(likely)),
				Hint:    strayHint})
			return
		}
	}
	if len(held) > 0 || !speaksOfYAML(file) {
		return
	}
	if line := settingIn(withoutActions(string(data))); line > 0 {
		p.Report(finding.Finding{Place: finding.Place{File: file, Line: line, Column: 1}, Secret: true,
			Message: "the file mentions a Secret, and holds what looks like a credential in plaintext", Hint: strayHint})
	}
}

const strayHint = "remove the file, and rotate the value: it is exposed"

// heldSecret is a Secret in a text, with its plaintext keys.
type heldSecret struct {
	object *repository.Object
	clear  []clearKey
}

// secretsInText returns the Secrets in a text that is YAML or a template of YAML, except for Secrets that SOPS encrypted.
// The error is a limit that the text exceeds.
func secretsInText(text []byte) (all []heldSecret, limit *repository.Error) {
	f := parsed(text)
	if f != nil && f.Err != nil && !f.Err.Reason.IsLimit() {
		f = parsed([]byte(withoutActions(string(text))))
	}
	if f == nil {
		return nil, nil
	}
	if f.Err != nil && f.Err.Reason.IsLimit() {
		limit = f.Err
	}
	for _, d := range f.Documents {
		for _, o := range secrets.Objects(d) {
			if secrets.StateOfDocument(d) != secrets.Encrypted {
				all = append(all, heldSecret{o, plaintextKeys(o.Node)})
			}
		}
	}
	return all, limit
}

// parsed returns a text parsed as YAML; nil if it is empty.
func parsed(text []byte) *repository.File {
	const name = "text.yaml"
	repo, err := repository.FromFiles(func(yield func(string, []byte) bool) { yield(name, text) }, repository.Options{})
	if err != nil {
		return nil
	}
	f, _ := repo.File(name)
	return f
}
