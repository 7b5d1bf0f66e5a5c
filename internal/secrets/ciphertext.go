package secrets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mostSecret is the maximum size of a file with an encrypted Secret, in bytes: a
// Kubernetes Secret has up to 1 MB.
const mostSecret = 8 << 20

// ClearError is the reason why a file is not a Secret that may be in Git, with its place.
type ClearError struct {
	Line, Column int
	Message      string
}

func (e *ClearError) Error() string { return e.Message }

// CheckEncrypted returns a *ClearError unless a file is one Secret that SOPS encrypted, with no
// value in plaintext. It decrypts nothing, and the error contains no value.
func CheckEncrypted(content []byte) error {
	if len(content) > mostSecret {
		return &ClearError{1, 1, fmt.Sprintf("larger than %d MB", mostSecret>>20)}
	}
	reader := yaml.NewDecoder(bytes.NewReader(content))
	var doc, second yaml.Node
	if err := reader.Decode(&doc); err != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return &ClearError{1, 1, "not an encrypted Secret in YAML"}
	}
	root := doc.Content[0]
	at := func(n *yaml.Node, format string, args ...any) error {
		return &ClearError{n.Line, n.Column, fmt.Sprintf(format, args...)}
	}
	if err := reader.Decode(&second); !errors.Is(err, io.EOF) {
		return at(root, "more than one YAML document")
	}
	if value(root, "apiVersion") != "v1" || value(root, "kind") != "Secret" {
		return at(root, "not a Secret (v1)")
	}
	sops := field(root, "sops")
	if sops == nil || sops.Kind != yaml.MappingNode || !IsEncryptedValue(value(sops, "mac")) {
		return at(root, "the Secret is not encrypted")
	}
	if clear := clearValues(root); len(clear) > 0 {
		return clear[0]
	}
	return nil
}

// clearValues returns the values of a Secret that are not encrypted.
func clearValues(root *yaml.Node) []*ClearError {
	var clear []*ClearError
	for _, name := range []string{"data", "stringData"} {
		data := field(root, name)
		switch {
		case data == nil:
		case data.Kind != yaml.MappingNode:
			clear = append(clear, &ClearError{data.Line, data.Column, name + " is not a map of values"})
		default:
			for i := 0; i+1 < len(data.Content); i += 2 {
				key, v := data.Content[i], data.Content[i+1]
				if v.Kind != yaml.ScalarNode || v.Value != "" && !IsEncryptedValue(v.Value) {
					clear = append(clear, &ClearError{key.Line, key.Column, fmt.Sprintf("the Secret contains %q in plaintext", key.Value)})
				}
			}
		}
	}
	return clear
}

// field returns the value of a mapping's key, nil if the key does not exist. It does not follow aliases, because SOPS
// writes none.
func field(n *yaml.Node, name string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

func value(n *yaml.Node, name string) string {
	if v := field(n, name); v != nil && v.Kind == yaml.ScalarNode {
		return strings.TrimSpace(v.Value)
	}
	return ""
}
