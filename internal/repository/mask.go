package repository

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// mask returns the lines of a file with possible secrets hidden.
func (r *Repository) mask(file string) *masked {
	data, err := r.ReadFile(file)
	if err != nil {
		return &masked{}
	}
	m := &masked{lines: strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n")}
	for i := range m.lines {
		m.lines[i] = shortened(strings.TrimSuffix(m.lines[i], "\r"))
		if strings.Contains(m.lines[i], "AGE-SECRET-KEY-") || strings.Contains(m.lines[i], "PRIVATE KEY") {
			m.cut(i+1, 1)
		}
	}
	f, parsed := r.byPath[file]
	if !parsed || f.Err != nil {
		if len(data) > mostUnread {
			return &masked{}
		}
		m.unread(parsed || isSettings(file))
		if holdsPasswords(file) || len(bytes.Fields(data)) == 1 && credential.IsRandom(string(data)) {
			m.lines = nil
		}
		if bytes.Contains(bytes.ToLower(data), []byte("secret")) {
			m.lines = nil
		}
		return m
	}
	for i, d := range f.Documents {
		end := len(m.lines)
		if i+1 < len(f.Documents) {
			end = f.Documents[i+1].Line - 1
		}
		h := hider{masked: m, end: end, behind: map[*yaml.Node]int{}}
		h.list(d.Root())
		h.walk("", d.Root())
	}
	for i, line := range m.lines {
		shown, left := credential.HideIn(line, finding.Hidden)
		if left != "" {
			m.lines[i] = shown
			m.note(left)
		}
	}
	return m
}

// mostUnread is the maximum size, in bytes, of a file that cannot be parsed and whose lines are shown.
const mostUnread = 256 << 10

// longestWord is the maximum length of the last word of a shortened line that is dropped: a part of it
// might no longer look like a credential.
const longestWord = 1000

// shortened returns the part of a line that is shown and searched for secrets.
func shortened(line string) string {
	if len(line) <= longestLine {
		return line
	}
	line = beginning(line)
	if i := strings.LastIndexAny(line, " \t,;:="); i > len(line)-longestWord {
		return line[:i]
	}
	return line
}

// isSettings reports whether the name of a file is that of a file with settings in a format that is not parsed here.
func isSettings(file string) bool {
	base := strings.ToLower(path.Base(file))
	return strings.HasPrefix(base, ".env") || slices.Contains([]string{".env", ".ini", ".properties", ".conf", ".cfg", ".toml", ".json", ".tfvars", ".txt"}, path.Ext(base))
}

// holdsPasswords reports whether the name of a file is that of a file with passwords in a format of its own.
func holdsPasswords(file string) bool {
	base := strings.ToLower(path.Base(file))
	return slices.ContainsFunc([]string{"netrc", "pgpass", "git-credentials", "htpasswd"}, func(name string) bool { return strings.HasSuffix(base, name) })
}

// set matches a line of settings or YAML that sets a value.
var set = regexp.MustCompile(`^([ \t]*(?:- +)*["']?[A-Za-z0-9_./-]+["']?[ \t]*[:=][ \t]*)(\S.*)$`)

// unread hides values in the lines of a file that is not parsed: all except evidently public ones if
// the file contains settings, otherwise those that look like credentials.
func (m *masked) unread(settings bool) {
	for i, line := range m.lines {
		shown, left := credential.HideIn(line, finding.Hidden)
		if left == "" && settings {
			if at := set.FindStringSubmatchIndex(line); at != nil && !evident(line[at[4]:]) {
				shown, left = line[:at[4]]+finding.Hidden, line[at[4]:]
			}
		}
		if left != "" {
			m.lines[i] = shown
			m.note(left)
		}
	}
}

// evident reports whether a value in a file that is not parsed is shown: evidently public values,
// plain names, and the start of a YAML structure.
func evident(value string) bool {
	value = credential.Unquoted(strings.TrimSpace(value))
	return credential.IsEvident(value) || isPlainName(value)
}

// cut hides the end of a line, starting at a column.
func (m *masked) cut(line, column int) {
	if line < 1 || line > len(m.lines) {
		return
	}
	runes := []rune(m.lines[line-1])
	at := min(max(column-1, 0), len(runes))
	if left, again := m.shown[line]; again && left <= at {
		return // it is already hidden, with the text before it
	}
	if m.shown == nil {
		m.shown = map[int]int{}
	}
	m.shown[line] = at
	m.note(string(runes[at:]))
	m.lines[line-1] = string(runes[:at]) + finding.Hidden
}

// leastNoted is the minimum length of a value that is hidden in messages.
const leastNoted = 6

// note records a value that messages must not show.
func (m *masked) note(value string) {
	value = strings.TrimSpace(beginning(value))
	if m.unnoted || len(value) < leastNoted || strings.Contains(value, finding.Hidden) || strings.HasPrefix(value, "ENC[") || len(m.values) >= mostNoted || len(value) < longestWord && (isPlainName(value) || credential.IsPlaceholder(value)) {
		return
	}
	m.values = append(m.values, value)
	if bare := credential.Unquoted(strings.TrimLeft(value, "*&!@%|>- ")); bare != value {
		m.note(bare)
	}
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\n\"',;:=@{}[]", r) }) {
		if part != value && credential.IsDrawn(part) {
			m.note(part)
		}
	}
}

const mostNoted = 10_000

// hider hides possible secrets in a document.
type hider struct {
	*masked
	end int // last line of the document
	// order are the nodes in the order of the file; behind is the index in order of the first node after a
	// node and everything below it.
	order  []*yaml.Node
	behind map[*yaml.Node]int
}

func (h *hider) list(n *yaml.Node) {
	h.order = append(h.order, n)
	for _, c := range n.Content {
		h.list(c)
	}
	h.behind[n] = len(h.order)
}

// hide hides a node and everything below it.
func (h *hider) hide(n *yaml.Node) {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias // the values are at the anchor
	}
	at, listed := h.behind[n]
	if !listed {
		return
	}
	end := h.end
	if at < len(h.order) {
		end = max(h.order[at].Line-1, n.Line)
	}
	h.noted(n)
	h.cut(n.Line, n.Column)
	for line := n.Line + 1; line <= end; line++ {
		h.cut(line, 1)
	}
}

// noted records the values below a node, including those that its aliases refer to.
func (h *hider) noted(n *yaml.Node) {
	switch n.Kind {
	case yaml.AliasNode:
		if n.Alias != nil {
			h.hide(n.Alias)
		}
	case yaml.ScalarNode:
		h.note(n.Value)
		h.note(strings.TrimLeft(n.Tag, "!")) // YAML reads a password that starts with ! as a tag
		h.note(n.Anchor)
		for line := range strings.Lines(n.Value) {
			h.note(line)
		}
		if plain, err := base64.StdEncoding.DecodeString(n.Value); err == nil {
			h.note(string(plain))
		}
	}
	for _, c := range n.Content {
		h.noted(c)
	}
}

// walk searches for possible secrets below a field.
func (h *hider) walk(field string, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		h.several(field, n)
		h.mapping(n)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			name := field
			if i > 0 && strings.HasPrefix(n.Content[i-1].Value, "-") && !strings.Contains(n.Content[i-1].Value, "=") {
				name = strings.TrimLeft(n.Content[i-1].Value, "-") // a flag; the next item is its value
			}
			if key, value, found := strings.Cut(item.Value, "="); found && item.Kind == yaml.ScalarNode && credential.HideLine(strings.TrimLeft(key, "-"), value) {
				h.hide(item)
			}
			h.walk(name, item)
		}
	case yaml.ScalarNode:
		defaults := credential.Defaults(n.Value)
		if len(defaults) > 0 || HoldsSecrets(n.Value) || credential.HideLine(field, n.Value) {
			h.hide(n)
		}
		for _, value := range defaults {
			h.note(value)
		}
	}
}

// several hides the values of a mapping whose field name means several secrets, such as passwords.
func (h *hider) several(field string, n *yaml.Node) {
	one := credential.Several(field)
	if one == "" {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if value := n.Content[i+1]; value.Kind == yaml.ScalarNode && credential.HideLine(n.Content[i].Value+"-"+one, value.Value) {
			h.hide(value)
		}
	}
}

func (h *hider) mapping(n *yaml.Node) {
	if patch, hidden := patchValue(n); patch {
		if hidden != nil {
			h.hide(hidden)
		}
		return
	}
	if IsSecretGenerator(n) {
		h.generator(n)
	}
	secret := IsSecret(n)
	name := scalarOf(n, "name")
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch field := key.Value; {
		case strings.EqualFold(field, "secretGenerator"):
			h.unnoted = true // messages name the files that the generator reads
			h.valuesOf(key, value)
			h.unnoted = false
			h.literals(value)
		case field == "stringData" || secret && !IsOfSecret(field, value):
			h.valuesOf(key, value)
		case field == "value" && name != "" && value.Kind != yaml.ScalarNode && credential.HideLine(name, drawn):
			h.hide(value)
		case field == LastApplied || field == "sourceValue":
			h.hide(value)
		case field == "value" && name != "" && value.Kind == yaml.ScalarNode:
			h.walk(name, value)
		case value.Kind == yaml.AliasNode && value.Alias != nil && value.Alias.Kind == yaml.ScalarNode && credential.HideLine(field, value.Alias.Value):
			h.hide(value)
		default:
			h.walk(field, value)
		}
	}
}

// drawn is an example of a value that looks randomly generated.
const drawn = "qT7-drawn-4xR8zK2m"

// generator hides the values in a generator of a Secret.
func (h *hider) generator(n *yaml.Node) {
	if literals := Lookup(n, "literals"); literals != nil {
		h.hide(literals)
	}
	h.literals(&yaml.Node{Content: []*yaml.Node{n}})
}

// literals records the literals of the generators in a list.
func (h *hider) literals(list *yaml.Node) {
	for _, g := range list.Content {
		literals := Lookup(g, "literals")
		for i := 0; literals != nil && i < len(literals.Content); i++ {
			key, value, found := strings.Cut(literals.Content[i].Value, "=")
			if !found {
				value = key // kustomize's error quotes it
			}
			h.note(value)
		}
	}
}

// valuesOf hides the values below a key, but not the keys of a map.
func (h *hider) valuesOf(key, value *yaml.Node) {
	if value.Kind != yaml.MappingNode || value.Style&yaml.FlowStyle != 0 || len(value.Content) == 0 {
		h.hideBehind(key, value)
		return
	}
	for i := 0; i+1 < len(value.Content); i += 2 {
		h.hideBehind(value.Content[i], value.Content[i+1])
	}
}

// hideBehind hides a value from the end of its key on, including the comments after it.
func (h *hider) hideBehind(key, value *yaml.Node) {
	if value.Kind == yaml.AliasNode {
		h.hide(value)
	}
	end := h.end
	if at := h.behind[value]; at < len(h.order) {
		end = max(h.order[at].Line-1, value.Line)
	}
	h.noted(value)
	empty := value.Kind == yaml.ScalarNode && value.Value == "" && value.Line == key.Line
	switch {
	case empty && (value.Anchor != "" || strings.HasPrefix(value.Tag, "!") && !strings.HasPrefix(value.Tag, "!!")):
		h.cut(key.Line, key.Column+len([]rune(key.Value))+2) // including what YAML reads as an anchor or a tag
	case !empty && value.Line == key.Line:
		h.cut(value.Line, value.Column)
	}
	for line := key.Line + 1; line <= end; line++ {
		if line <= len(h.lines) && strings.TrimSpace(h.lines[line-1]) != "" {
			h.cut(line, 1)
		}
	}
}

// ofSecret are the fields of a Secret that contain none of its values.
var ofSecret = map[string]bool{"apiVersion": true, "kind": true, "metadata": true, "type": true, "immutable": true, "sops": true}

// IsOfSecret reports whether a field of a Secret contains none of its values.
func IsOfSecret(field string, value *yaml.Node) bool {
	return ofSecret[field] && (field != "type" || value.Kind == yaml.ScalarNode)
}

// LastApplied is the annotation in which kubectl stores the applied object, including the values
// of a Secret.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// IsSecret reports whether a mapping is a Kubernetes Secret, at any place in a document. It returns false for the items of a
// SecretList without a kind, and true for a Secret whose kind or group is misspelt.
func IsSecret(n *yaml.Node) bool {
	version := strings.ToLower(scalarOf(n, "apiVersion"))
	return strings.EqualFold(scalarOf(n, "kind"), "Secret") && (version == "v1" || version == "" || version == "core/v1")
}

// IsSecretGenerator reports whether a mapping is kustomize's generator of a Secret.
func IsSecretGenerator(n *yaml.Node) bool {
	return strings.EqualFold(scalarOf(n, "kind"), "SecretGenerator")
}

func scalarOf(n *yaml.Node, field string) string {
	if v := Lookup(n, field); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

// patchValue reports whether a mapping is an operation of a JSON patch, and returns its value if it
// may be a secret according to its path.
func patchValue(n *yaml.Node) (patch bool, hidden *yaml.Node) {
	op, at := scalarOf(n, "op"), scalarOf(n, "path")
	if !slices.Contains([]string{"add", "replace", "test", "remove", "move", "copy"}, op) || !strings.HasPrefix(at, "/") && at != "" {
		return false, nil
	}
	value := Lookup(n, "value")
	if value == nil {
		return true, nil
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(at, "/"), "/")
	last := rest[strings.LastIndexByte(rest, '/')+1:]
	switch {
	case first == "" || first == "data" || first == "stringData" || strings.HasSuffix(at, "annotations") || strings.Contains(at, "last-applied-configuration"):
		return true, value
	case value.Kind != yaml.ScalarNode:
		return true, value // a map or list may contain anything
	case credential.HideLine(last, value.Value) || credential.Hide(last, value.Value):
		return true, value
	case last == "value" || last == "-":
		return true, value // an environment variable, or an item of a list of arguments
	}
	return true, nil
}

// Scrub returns a message about a file without the values that are hidden in the file's source lines.
func (l *Lines) Scrub(file, text string) string {
	return l.Without(l.of(file).hide().Replace(credential.Without(text, finding.Hidden)))
}

// ScrubBuilt is [Lines.Scrub] for a message of a program that read many files, such as kustomize.
func (l *Lines) ScrubBuilt(text string) string {
	l.mu.Lock()
	built := l.built
	l.mu.Unlock()
	if built == nil {
		var values []string
		for _, file := range l.repo.Paths() {
			if f, known := l.repo.byPath[file]; IsKustomization(file) || isSettings(file) || known && slices.ContainsFunc(f.Documents, speaksOf) {
				values = append(values, l.of(file).values...)
			}
		}
		built = hiding(values)
		l.mu.Lock()
		l.built = built
		l.mu.Unlock()
	}
	return built.Replace(text)
}

// speaksOf reports whether a document contains a Secret or a ConfigMap.
func speaksOf(d *Document) bool {
	return slices.ContainsFunc(d.Objects, func(o *Object) bool { return o.Kind == "Secret" || o.Kind == "ConfigMap" })
}

// hiding returns a replacer that hides values in a text, longer ones first. Its time is linear in the text's length, for
// any number of values.
func hiding(values []string) *strings.Replacer {
	spelled := make([]string, 0, 2*len(values))
	for _, value := range values {
		spelled = append(spelled, value, quoted(value))
	}
	slices.SortFunc(spelled, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, value := range slices.Compact(spelled) {
		if value != "" {
			pairs = append(pairs, value, finding.Hidden)
		}
	}
	return strings.NewReplacer(pairs...)
}

// quoted returns a value as messages quote it, without the quotes.
func quoted(value string) string {
	data, err := json.Marshal(value)
	if err != nil {
		return value
	}
	return strings.Trim(string(data), `"`)
}
