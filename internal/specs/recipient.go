package specs

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// recipientScopes are the scopes of an Encryption's recipients.
var recipientScopes = []string{string(v1alpha1.ScopePlatform), string(v1alpha1.ScopeClusters), "tenants"}

// AddRecipient adds an age recipient to the Encryption of a specification: to a scope (platform, clusters or tenants)
// and, except for the platform, to a cluster or tenant by name. It returns the changed file, with all other bytes
// unchanged, including comments; nil if the recipient is already listed. If the file cannot be edited, for example
// because it uses aliases, the error describes the edit for the user.
func AddRecipient(files []File, scope, name, recipient string) (*File, error) {
	if !slices.Contains(recipientScopes, scope) || (scope == string(v1alpha1.ScopePlatform)) != (name == "") {
		return nil, fmt.Errorf("recipients of %q %q: want %s; all but the first require a name", scope, name, strict.OneOf(recipientScopes))
	}
	before, err := LoadKeyless(files)
	if err != nil {
		return nil, err
	}
	if before.Encryption == nil {
		return nil, errors.New("cannot add a recipient: the specification has no Encryption")
	}
	if slices.Contains(before.RecipientsOf(scope, name), recipient) {
		return nil, nil
	}
	path := strict.At("spec", "recipients", scope)
	if name != "" {
		path = path.Child(name)
	}
	byHand := fmt.Errorf("add %s to %s of the Encryption by hand: Fleetwright cannot edit the file in this notation", recipient, path.Child("age"))
	for i, f := range files {
		root := encryptionIn(f.Content)
		if root == nil {
			continue
		}
		content, ok := withRecipient(f.Content, root, path.Child("age"), recipient)
		if !ok {
			return nil, byHand
		}
		edited := slices.Clone(files)
		edited[i].Content = content
		after, err := LoadKeyless(edited)
		if err != nil || !onlyAdded(before, after, scope, name, recipient) {
			return nil, byHand
		}
		return &edited[i], nil
	}
	return nil, byHand
}

// onlyAdded reports whether two specifications differ only in one added recipient.
func onlyAdded(before, after *v1alpha1.Spec, scope, name, recipient string) bool {
	want := *before.Encryption
	r := &want.Spec.Recipients
	r.Clusters, r.Tenants = maps.Clone(r.Clusters), maps.Clone(r.Tenants)
	got := after.RecipientsOf(scope, name)
	left := slices.DeleteFunc(slices.Clone(got), func(one string) bool { return one == recipient })
	if len(got) != len(left)+1 || !slices.Equal(left, before.RecipientsOf(scope, name)) {
		return false
	}
	switch scope {
	case string(v1alpha1.ScopePlatform):
		r.Platform.Age = got
	case string(v1alpha1.ScopeClusters):
		if r.Clusters == nil {
			r.Clusters = map[string]v1alpha1.Recipients{}
		}
		r.Clusters[name] = after.Encryption.Spec.Recipients.Clusters[name]
	default:
		if r.Tenants == nil {
			r.Tenants = map[string]v1alpha1.Recipients{}
		}
		r.Tenants[name] = after.Encryption.Spec.Recipients.Tenants[name]
	}
	expected := *before
	expected.Encryption = &want
	return expected.Equal(after)
}

// encryptionIn returns the Encryption among a file's documents, nil if the file has none.
func encryptionIn(content []byte) *yaml.Node {
	reader := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var doc yaml.Node
		if err := reader.Decode(&doc); err != nil { // the end of the file: the file was loaded before, so it is valid YAML
			return nil
		}
		if len(doc.Content) != 1 {
			continue
		}
		if _, kind := scalarAt(doc.Content[0], "kind"); kind == v1alpha1.KindEncryption {
			return doc.Content[0]
		}
	}
}

// withRecipient inserts a recipient at the end of the list at a path. If the list does not exist, it creates
// the list and the maps around it.
func withRecipient(content []byte, root *yaml.Node, list *strict.Path, recipient string) ([]byte, bool) {
	var missing []string
	for p := list; ; p = p.Up {
		key, value, found := p.Find(root)
		if found && strict.IsNull(value) && value.Value == "" && value.Line >= key.Line {
			return insertUnder(content, key, missing, recipient)
		}
		if !found || strict.IsNull(value) {
			missing = append([]string{p.Name}, missing...)
			if p.Up == nil {
				return nil, false
			}
			continue
		}
		if value.Kind == yaml.AliasNode || value.Anchor != "" {
			return nil, false
		}
		return insertBelow(content, value, missing, recipient)
	}
}

// insertBelow inserts fields, the last of which contains the recipient, into a node.
func insertBelow(content []byte, n *yaml.Node, fields []string, recipient string) ([]byte, bool) {
	lines := bytes.SplitAfter(content, []byte("\n"))
	if n.Style&yaml.FlowStyle != 0 {
		text := recipient
		if len(fields) > 0 {
			text = strings.Join(fields, ": {") + ": [" + recipient + "]" + strings.Repeat("}", len(fields)-1)
		}
		if len(n.Content) > 0 {
			text += ", "
		}
		line, after := lines[n.Line-1], n.Column // after the opening bracket
		if after > len(line) || !strings.ContainsRune("[{", rune(line[after-1])) {
			return nil, false
		}
		lines[n.Line-1] = slices.Concat(line[:after], []byte(text), line[after:])
		return bytes.Join(lines, nil), true
	}
	if len(n.Content) == 0 || n.Kind == yaml.ScalarNode {
		return nil, false
	}
	indent, last := n.Content[0].Column-1, lastLine(n)
	if n.Kind == yaml.SequenceNode {
		indent = n.Column - 1
	}
	end := "\n"
	if bytes.HasSuffix(lines[last-1], []byte("\r\n")) {
		end = "\r\n"
	}
	var text strings.Builder
	if !bytes.HasSuffix(lines[last-1], []byte("\n")) {
		text.WriteString(end)
	}
	for _, field := range fields {
		text.WriteString(strings.Repeat(" ", indent) + field + ":" + end)
		indent += 2
	}
	text.WriteString(strings.Repeat(" ", indent) + "- " + recipient + end)
	lines[last-1] = append(slices.Clone(lines[last-1]), text.String()...)
	return bytes.Join(lines, nil), true
}

// insertUnder inserts fields, the last of which contains the recipient, under a key without a value.
func insertUnder(content []byte, key *yaml.Node, fields []string, recipient string) ([]byte, bool) {
	lines := bytes.SplitAfter(content, []byte("\n"))
	line := lines[key.Line-1]
	rest, _, _ := bytes.Cut(line[min(len(line), key.Column-1+len(key.Value)):], []byte("#"))
	if string(bytes.TrimSpace(rest)) != ":" {
		return nil, false // the node is in flow style
	}
	end := "\n"
	if bytes.HasSuffix(line, []byte("\r\n")) {
		end = "\r\n"
	}
	text := string(bytes.TrimRight(line, "\r\n")) + end
	indent := key.Column + 1
	for _, field := range fields {
		text += strings.Repeat(" ", indent) + field + ":" + end
		indent += 2
	}
	lines[key.Line-1] = []byte(text + strings.Repeat(" ", indent) + "- " + recipient + end)
	return bytes.Join(lines, nil), true
}

// lastLine returns the last line of a node's scalars, which all have one line.
func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, child := range n.Content {
		last = max(last, lastLine(child))
	}
	return last
}
