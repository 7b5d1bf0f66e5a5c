package sops

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// scanner searches the fields of a document for secrets.
type scanner struct {
	pass *rule.Pass
	// indent returns the number of spaces that a line of the file begins with.
	indent func(line int) int
	file   string
	// object is the object that is searched, nil for a document without one.
	object *repository.Object
	// settings reports whether the names of fields describe their values. strict reports whether a name can mean
	// anything, as in the files of a ConfigMap; then only values that look random count.
	settings, strict bool
	// about reports whether the object describes Secrets that are elsewhere. Its fields may then name keys of these
	// Secrets.
	about bool
	// stray reports whether the file does not have the extension of YAML. sops-plaintext-secret reports the
	// Secrets in it.
	stray bool
	// within is the number of nested strings that contain the fields.
	within int
	// aliased are the long strings that were already reached through aliases.
	aliased map[*yaml.Node]bool
	// place returns the place of a node in the file.
	place func(n *yaml.Node) (line, column int)
}

// scan checks the value of a field, and everything below it.
func (s scanner) scan(field string, n *yaml.Node, depth int) {
	if n == nil || depth > limits.Nesting {
		return
	}
	switch n.Kind {
	case yaml.AliasNode:
		if n.Alias != nil && n.Alias.Kind == yaml.ScalarNode && !s.again(n.Alias) {
			s.value(field, n.Alias)
		}
	case yaml.MappingNode:
		s.several(field, n)
		s.mapping(n, depth)
	case yaml.SequenceNode:
		s.sequence(field, n, depth)
	case yaml.ScalarNode:
		s.value(field, n)
	}
}

// again reports whether an alias has already led to a long string. The result for such a string does not depend on the
// field's name, and a document may have many aliases to it.
func (s scanner) again(n *yaml.Node) bool {
	if len(n.Value) < longText {
		return false
	}
	seen := s.aliased[n]
	s.aliased[n] = true
	return seen
}

// longText is the length in bytes from which a string cannot be a password.
const longText = 4 << 10

// several checks the values of a mapping whose field name is a plural, such as "passwords". Each key then names
// one secret.
func (s scanner) several(field string, n *yaml.Node) {
	one := credential.Several(field)
	if one == "" {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key, value := n.Content[i].Value, n.Content[i+1]; value.Kind == yaml.ScalarNode && credential.LooksRandomSecret(key+"-"+one, value.Value) && credential.TokenIn(value.Value) == "" && !credential.LooksSecret(key, value.Value) {
			s.value(key+"-"+one, value)
		}
	}
}

func (s scanner) mapping(n *yaml.Node, depth int) {
	if s.operation(n, depth) || s.replacement(n) || repository.IsSecretGenerator(n) {
		return
	}
	held := repository.IsSecret(n) || repository.Lookup(n, "stringData") != nil && (s.object == nil || !aboutSecrets(s.object.Kind))
	if held {
		s.held(n, plaintextKeys(n))
	}
	variable := ""
	if name := repository.Lookup(n, "name"); name != nil {
		variable = name.Value // "" unless it is a scalar
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		switch {
		case s.isSealed(key) || s.about && key == "secretKey" && value.Kind == yaml.ScalarNode: // the field names a key
			continue
		case held && (key == "data" || key == "stringData" || isWhole(n) && !repository.IsOfSecret(key, value)) || key == repository.LastApplied || strings.EqualFold(key, "secretGenerator"):
			continue // checked already, or by other rules
		case key == "value" && variable != "":
			key = variable // the name and value of a container's environment
		}
		s.scan(key, value, depth+1)
	}
}

// isSealed reports whether the value of a key is encrypted as in a SealedSecret.
func (s scanner) isSealed(key string) bool {
	return key == "encryptedData" && s.object != nil && s.object.Kind == "SealedSecret"
}

// sequence checks a list. In a list of arguments, an item may be a flag, and the next one its value.
func (s scanner) sequence(field string, n *yaml.Node, depth int) {
	flag := ""
	for _, item := range n.Content {
		name, text := field, item.Value
		switch {
		case item.Kind != yaml.ScalarNode:
		case flag != "" && !otherFlag.MatchString(text):
			name = flag
		case field == "args" || field == "command" || field == "literals":
			if key, value, found := strings.Cut(strings.TrimLeft(text, "-"), "="); found && !strings.Contains(text, "\n") {
				part := *item
				name, part.Value = key, strings.Trim(value, `"'`)
				item = &part
			}
		}
		flag = ""
		if (field == "args" || field == "command") && strings.HasPrefix(text, "-") && !strings.Contains(text, "=") {
			flag = strings.TrimLeft(text, "-")
		}
		s.scan(name, item, depth+1)
	}
}

// value checks one value.
func (s scanner) value(field string, n *yaml.Node) {
	if n.Tag != "!!str" && n.Tag != "!!binary" {
		return
	}
	text := n.Value
	switch token := credential.TokenIn(text); {
	case len(credential.PrivateKeysIn(text)) > 0: // sops-private-key reports it
	case token != "":
		severity := finding.Error
		if keyID.MatchString(field) {
			severity = finding.Warning // an ID is only half of a credential
		}
		s.report(n, severity, fmt.Sprintf("%s of %s holds %s", field, s.what(), token))
	case strings.Contains(text, "\n") || isJSON(text):
		if !s.encoded(field, n) {
			s.text(field, n)
		}
	case !s.settings && (s.object == nil || !holdURLs(s.object)):
	case credential.HasPassword(text):
		s.report(n, finding.Error, fmt.Sprintf("%s of %s looks like a secret in plaintext", field, s.what()))
	case s.settings && credential.IsHash(text):
		s.report(n, finding.Warning, fmt.Sprintf("%s of %s holds %s in plaintext", field, s.what(), credential.Hash))
	case s.settings && s.looksSecret(field, text):
		severity := finding.Warning
		if credential.IsRandom(text) || strings.Contains(text, "://") {
			severity = finding.Error
		}
		s.report(n, severity, fmt.Sprintf("%s of %s looks like a secret in plaintext", field, s.what()))
	case s.settings && strings.TrimPrefix(field, "_") == "auth" && credential.IsUserPassword(text):
		s.report(n, finding.Error, fmt.Sprintf("%s of %s holds a user's password in base64", field, s.what()))
	case s.settings && !s.encoded(field, n):
		if what, _ := credential.SecretIn(text); what != "" {
			s.report(n, severityOf(what), fmt.Sprintf("%s of %s holds %s in plaintext", field, s.what(), what))
		}
	}
}

// severityOf returns the severity for a result of [credential.SecretIn].
func severityOf(what string) finding.Severity {
	if what == credential.Hash {
		return finding.Warning
	}
	return finding.Error
}

// gitProviders are the types of Providers whose address is a Git repository.
var gitProviders = []string{"azuredevops", "bitbucket", "bitbucketserver", "gitea", "github", "githubdispatch", "githubpullrequestcomment", "gitlab", "gitlabmergerequestcomment", "giteapullrequestcomment"}

// looksSecret reports whether a value looks like a secret, by the name of its field. The address of a Provider is secret,
// because any sender that knows it can send to it, unless it is a Git repository.
func (s scanner) looksSecret(field, text string) bool {
	if field == "address" && s.object != nil && s.object.Group() == fluxapi.NotificationGroup {
		if of, _ := s.object.Text("spec", "type"); slices.Contains(gitProviders, of) {
			return false
		}
		field = "webhook_url"
	}
	if s.strict {
		return credential.LooksRandomSecret(field, text)
	}
	return credential.LooksSecret(field, text)
}

// leastEncoded is the minimum length of a base64 value that is decoded and checked.
const leastEncoded = 24

// encoded checks a value that is base64-encoded text. It returns whether it is one.
func (s scanner) encoded(field string, n *yaml.Node) bool {
	if !s.settings || s.within >= limits.NestedTexts || !isBase64(n.Value) {
		return false
	}
	plain := secrets.Decoded(n.Value)
	if plain == n.Value || !utf8.ValidString(plain) || !isText(plain) {
		return false
	}
	if len(credential.PrivateKeysIn(plain)) > 0 {
		s.report(n, finding.Error, fmt.Sprintf("%s of %s holds a private key in plaintext", field, s.what()))
		return true
	}
	inner := s
	inner.within++
	inner.place = func(*yaml.Node) (int, int) { return s.place(n) }
	inner.value(field, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: plain, Line: n.Line, Column: n.Column})
	return true
}

// isBase64 reports whether a value may be base64-encoded text, on one or several lines, by its length and
// characters.
func isBase64(value string) bool {
	if len(value) < leastEncoded || len(value) > limits.SettingsBytes {
		return false
	}
	for i := range len(value) {
		c := value[i]
		if isLetter := 'a' <= c|0x20 && c|0x20 <= 'z'; !isLetter && (c < '/' || c > '9') && c != '+' && (i < leastEncoded || c != '=' && c != '\n' && c != ' ' && c != '\r') {
			return false
		}
	}
	first, err := base64.StdEncoding.DecodeString(value[:leastEncoded])
	return err == nil && isText(strings.ToValidUTF8(string(first[:leastEncoded/2]), ""))
}

// otherFlag matches the beginning of an argument that is a flag, and not the value of the flag before it.
var otherFlag = regexp.MustCompile(`^(--[a-z]|-[A-Za-z]$)`)

// keyID matches the names of fields with the ID of a key.
var keyID = regexp.MustCompile(`(?i)key[-_]?id$`)

// isJSON reports whether a one-line string is a JSON object or a list of objects, as patches are.
func isJSON(text string) bool {
	return (strings.HasPrefix(text, `{"`) || strings.HasPrefix(text, "[{")) && json.Valid([]byte(text))
}

// what describes the searched object or file for a message.
func (s scanner) what() string {
	if s.object == nil {
		return "the file"
	}
	return s.object.String()
}

// report reports a value.
func (s scanner) report(n *yaml.Node, severity finding.Severity, message string) {
	if !real(s.pass, s.file) && (!s.stray || !realIn(s.pass, s.file)) {
		return
	}
	line, column := s.place(n)
	f := finding.Finding{Place: finding.Place{File: s.file, Line: line, Column: column}, Secret: true, Severity: severity, Message: message,
		Hint: "move it to an encrypted Secret, and rotate it: it is exposed"}
	if s.object != nil {
		f.Object = rule.ObjectOf(s.object)
	}
	s.pass.Report(f)
}

// held reports the plaintext values of a Secret within another object.
func (s scanner) held(n *yaml.Node, keys []clearKey) {
	name := "a Secret"
	if text := repository.Lookup(n, "metadata", "name"); text != nil && text.Kind == yaml.ScalarNode {
		name = "Secret " + text.Value
	}
	if likely := likelyOf(keys); len(likely) > 0 && (!s.stray || s.within > 0) {
		at := &yaml.Node{Line: likely[0].line, Column: likely[0].column}
		s.report(at, finding.Error, fmt.Sprintf("%s in %s holds %s in plaintext", name, s.what(), listed(likely)))
	}
}

// holdURLs reports whether an object is a source or belongs to k0rdent. The URLs in its fields are the ones that a
// controller calls.
func holdURLs(o *repository.Object) bool {
	return o.Group() == fluxapi.SourceGroup || o.Group() == schemas.KommanderDispatchGroup || o.Group() == schemas.K0rdentGroup
}

// operation checks an operation of a JSON patch. It returns whether the mapping is one.
func (s scanner) operation(n *yaml.Node, depth int) bool {
	op, at := repository.Lookup(n, "op"), repository.Lookup(n, "path")
	value := repository.Lookup(n, "value")
	if op == nil || at == nil || value == nil || at.Kind != yaml.ScalarNode || at.Value != "" && !strings.HasPrefix(at.Value, "/") {
		return false
	}
	steps := strings.Split(at.Value, "/")
	for i := range steps {
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[i])
	}
	last := steps[len(steps)-1]
	switch {
	case len(steps) == 3 && steps[1] == "stringData" && value.Kind == yaml.ScalarNode && credential.Judge(last, value.Value) == credential.Likely,
		len(steps) == 3 && steps[1] == "data" && value.Kind == yaml.ScalarNode && encoded(last, value.Value):
		s.report(value, finding.Error, fmt.Sprintf("a patch in %s sets %q of a Secret in plaintext", s.what(), last))
	case len(steps) == 2 && last == "stringData", len(steps) == 2 && last == "data" && allEncoded(value):
		s.held(n, clearValues(last, value))
	case last == "value" && value.Kind == yaml.ScalarNode && isUnnamed(value.Value):
		s.report(value, finding.Warning, fmt.Sprintf("a patch in %s sets what looks like a secret in plaintext", s.what()))
	default:
		patched := s
		patched.settings = s.settings || s.object == nil
		patched.scan(last, value, depth+1)
	}
	return true
}

// replacement checks the value of a kustomization's replacement by the names of the fields that it replaces. It
// returns whether the mapping is a replacement with a value.
func (s scanner) replacement(n *yaml.Node) bool {
	value, targets := repository.Lookup(n, "sourceValue"), repository.Lookup(n, "targets")
	if value == nil || value.Kind != yaml.ScalarNode || targets == nil {
		return false
	}
	for _, target := range items(targets) {
		for _, at := range items(repository.Lookup(target, "fieldPaths")) {
			steps := strings.Split(at.Value, ".")
			field, last := steps[0], steps[len(steps)-1]
			if field == "stringData" && credential.Judge(last, value.Value) == credential.Likely || field == "data" && encoded(last, value.Value) ||
				credential.LooksSecret(last, value.Value) || last == "value" && isUnnamed(value.Value) {
				s.report(value, finding.Error, fmt.Sprintf("a replacement in %s sets %q in plaintext", s.what(), at.Value))
				return true
			}
		}
	}
	s.scan("sourceValue", value, 0)
	return true
}

// encoded reports whether a value in data is a likely credential in base64, as in a Secret. The patch may also be for a
// ConfigMap.
func encoded(key, value string) bool {
	plain := secrets.Decoded(value)
	return plain != value && isText(plain) && credential.Judge(key, plain) == credential.Likely
}

func isText(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r == 0xFFFD || r < ' ' && r != '\n' && r != '\t' && r != '\r' })
}

// allEncoded reports whether all values of a map are base64-encoded text.
func allEncoded(n *yaml.Node) bool {
	for i := 1; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if plain := secrets.Decoded(n.Content[i].Value); plain == n.Content[i].Value || !isText(plain) {
			return false
		}
	}
	return n.Kind == yaml.MappingNode && len(n.Content) > 0
}

// aboutSecrets reports whether the fields of a kind describe secrets that are elsewhere or sealed. The names of such
// fields do not show that a value is secret.
func aboutSecrets(kind string) bool {
	return strings.Contains(kind, "Secret") || strings.HasSuffix(kind, "Policy")
}
