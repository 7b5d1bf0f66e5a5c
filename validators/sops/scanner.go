package sops

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// scanner looks for secrets among the fields of a document.
type scanner struct {
	pass  *rule.Pass
	lines *repository.Lines
	file  string
	// object that is looked through, nil for a document that is none.
	object *repository.Object
	// settings says that the names of fields say what they hold; strict, that any name may stand for
	// anything, as in the files that a ConfigMap holds.
	settings, strict bool
	// about says that the object describes Secrets that are elsewhere: a field may name what is there.
	about bool
	// stray says that the file is not named as YAML is: sops-plaintext-secret reports the Secrets in it.
	stray bool
	// within is how many texts the fields are in.
	within int
	// aliased are the long texts that aliases led to.
	aliased map[*yaml.Node]bool
	// place says where a value stands in the file.
	place func(n *yaml.Node) (line, column int)
}

// scan looks at a value under a field, and below it.
func (s scanner) scan(field string, n *yaml.Node, depth int) {
	if n == nil || depth > mostScanned {
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

// again says whether aliases have led to a long text before: what it holds does not depend on the name of
// the field, and a document may have many aliases of it.
func (s scanner) again(n *yaml.Node) bool {
	if len(n.Value) < longText {
		return false
	}
	seen := s.aliased[n]
	s.aliased[n] = true
	return seen
}

// longText is the bytes of a text that is no password.
const longText = 4 << 10

// several judges the values of a mapping under the name of several secrets, which keys of theirs stand for.
func (s scanner) several(field string, n *yaml.Node) {
	one := credential.Several(field)
	if one == "" {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key, value := n.Content[i].Value, n.Content[i+1]; value.Kind == yaml.ScalarNode && credential.LooksDrawn(key+"-"+one, value.Value) && credential.TokenIn(value.Value) == "" && !credential.LooksSecret(key, value.Value) {
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
		s.held(n, clear(n))
	}
	variable := ""
	if name := repository.Lookup(n, "name"); name != nil {
		variable = name.Value // "" unless it is a scalar
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		switch {
		case s.isSealed(key) || s.about && key == "secretKey" && value.Kind == yaml.ScalarNode: // which names a key
			continue
		case held && (key == "data" || key == "stringData" || isWhole(n) && !repository.IsOfSecret(key, value)) || key == repository.LastApplied || strings.EqualFold(key, "secretGenerator"):
			continue // judged already, or by other rules
		case key == "value" && variable != "":
			key = variable // the name and value of a container's environment
		}
		s.scan(key, value, depth+1)
	}
}

// isSealed says whether what stands under a key of an object is sealed to its controller.
func (s scanner) isSealed(key string) bool {
	return key == "encryptedData" && s.object != nil && s.object.Kind == "SealedSecret"
}

// sequence looks through a list: of arguments, some are flags, and the next one is the value.
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

// value judges one value.
func (s scanner) value(field string, n *yaml.Node) {
	if n.Tag != "!!str" && n.Tag != "!!binary" {
		return
	}
	text := n.Value
	switch token := credential.TokenIn(text); {
	case len(credential.PrivateKeysIn(text)) > 0: // sops-private-key's
	case token != "":
		severity := finding.Error
		if keyID.MatchString(field) {
			severity = finding.Warning // which is half of a credential
		}
		s.report(n, severity, fmt.Sprintf("%s of %s holds %s", field, s.what(), token))
	case strings.Contains(text, "\n") || isJSON(text):
		if !s.encoded(field, n) {
			s.text(field, n)
		}
	case !s.settings && (s.object == nil || !holdURLs(s.object)):
	case credential.HasPassword(text):
		s.report(n, finding.Error, fmt.Sprintf("%s of %s looks like a secret in plaintext", field, s.what()))
	case s.settings && s.looksSecret(field, text):
		severity := finding.Warning
		if credential.IsRandom(text) || strings.Contains(text, "://") {
			severity = finding.Error
		}
		s.report(n, severity, fmt.Sprintf("%s of %s looks like a secret in plaintext", field, s.what()))
	case s.settings && !s.encoded(field, n):
		if what, _ := credential.DrawnIn(text); what != "" {
			s.report(n, severityOf(what), fmt.Sprintf("%s of %s holds %s in plaintext", field, s.what(), what))
		}
	}
}

// severityOf is that of a finding about what [credential.DrawnIn] found.
func severityOf(what string) finding.Severity {
	if what == credential.Hash {
		return finding.Warning
	}
	return finding.Error
}

// looksSecret says whether a value looks like a secret by the name of its field. The address of a
// Provider is one that anybody may call who knows it.
func (s scanner) looksSecret(field, text string) bool {
	if field == "address" && s.object != nil && s.object.Group() == fluxapi.NotificationGroup {
		field = "webhook_url"
	}
	if s.strict {
		return credential.LooksDrawn(field, text)
	}
	return credential.LooksSecret(field, text)
}

// leastEncoded is how long a value in base64 is, at least, that is looked into.
const leastEncoded = 24

// encoded looks through a value that is text in base64, and says whether it is.
func (s scanner) encoded(field string, n *yaml.Node) bool {
	if !s.settings || s.within >= mostWithin || !isBase64(n.Value) {
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

// isBase64 says whether a value of fitting length may be text in base64, on one line or several.
func isBase64(value string) bool {
	if len(value) < leastEncoded || len(value) > mostSecretFile {
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

// otherFlag is how an argument begins that is a flag, and not the value of the one before it.
var otherFlag = regexp.MustCompile(`^(--[a-z]|-[A-Za-z]$)`)

// keyID is how fields for the ID of a key are named.
var keyID = regexp.MustCompile(`(?i)key[-_]?id$`)

// isJSON says whether a text on one line is a map or a list of maps in JSON, as patches are.
func isJSON(text string) bool {
	return (strings.HasPrefix(text, `{"`) || strings.HasPrefix(text, "[{")) && json.Valid([]byte(text))
}

// what names what is looked through.
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
	f := finding.Finding{File: s.file, Line: line, Column: column, Secret: true, Severity: severity, Message: message,
		Hint: "move it to an encrypted Secret, and rotate it: it is exposed"}
	if s.object != nil {
		f.Object = rule.ObjectOf(s.object)
	}
	s.pass.Report(f)
}

// held reports what a Secret within another object holds.
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

// holdURLs says whether an object's fields are those of a source or of k0rdent: addresses in them are
// what a controller calls.
func holdURLs(o *repository.Object) bool {
	return o.Group() == fluxapi.SourceGroup || o.Group() == schemas.KommanderDispatchGroup || o.Group() == schemas.K0rdentGroup
}

// operation judges an operation of a JSON patch, and says whether a mapping is one.
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

// replacement judges the value of a kustomization's replacement by the fields that it replaces, and says
// whether a mapping is one with a value.
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

// encoded says whether a value of a field data is a likely credential in base64, as that of a Secret
// is. The patch may as well be one of a ConfigMap.
func encoded(key, value string) bool {
	plain := secrets.Decoded(value)
	return plain != value && isText(plain) && credential.Judge(key, plain) == credential.Likely
}

func isText(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r == 0xFFFD || r < ' ' && r != '\n' && r != '\t' && r != '\r' })
}

// allEncoded says whether all values of a map are text in base64.
func allEncoded(n *yaml.Node) bool {
	for i := 1; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if plain := secrets.Decoded(n.Content[i].Value); plain == n.Content[i].Value || !isText(plain) {
			return false
		}
	}
	return n.Kind == yaml.MappingNode && len(n.Content) > 0
}

// aboutSecrets says whether the fields of a kind describe secrets that are elsewhere, or sealed: what
// their names say means little.
func aboutSecrets(kind string) bool {
	return strings.Contains(kind, "Secret") || strings.HasSuffix(kind, "Policy")
}
