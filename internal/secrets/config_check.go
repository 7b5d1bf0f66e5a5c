package secrets

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/nearest"
)

// configShape has the fields that SOPS reads from a .sops.yaml. SOPS refuses a value with another type, but
// not an unknown field.
// Source: github.com/getsops/sops/v3 v3.13 config, configFile.
type configShape struct {
	CreationRules    []ruleShape        `yaml:"creation_rules"`
	DestinationRules []destinationShape `yaml:"destination_rules"`
	Stores           map[string]any     `yaml:"stores"`
}

type ruleShape struct {
	PathRegex               string       `yaml:"path_regex"`
	KMS                     any          `yaml:"kms"`
	AwsProfile              string       `yaml:"aws_profile"`
	Age                     any          `yaml:"age"`
	PGP                     any          `yaml:"pgp"`
	GCPKMS                  any          `yaml:"gcp_kms"`
	HCKms                   []string     `yaml:"hckms"`
	AzureKeyVault           any          `yaml:"azure_keyvault"`
	VaultURI                any          `yaml:"hc_vault_transit_uri"`
	KeyGroups               []groupShape `yaml:"key_groups"`
	ShamirThreshold         int          `yaml:"shamir_threshold"`
	UnencryptedSuffix       string       `yaml:"unencrypted_suffix"`
	EncryptedSuffix         string       `yaml:"encrypted_suffix"`
	UnencryptedRegex        string       `yaml:"unencrypted_regex"`
	EncryptedRegex          string       `yaml:"encrypted_regex"`
	UnencryptedCommentRegex string       `yaml:"unencrypted_comment_regex"`
	EncryptedCommentRegex   string       `yaml:"encrypted_comment_regex"`
	MACOnlyEncrypted        bool         `yaml:"mac_only_encrypted"`
}

type groupShape struct {
	Merge   []any    `yaml:"merge"`
	KMS     []any    `yaml:"kms"`
	GCPKMS  []any    `yaml:"gcp_kms"`
	HCKms   []any    `yaml:"hckms"`
	AzureKV []any    `yaml:"azure_keyvault"`
	Vault   []string `yaml:"hc_vault"`
	Age     []string `yaml:"age"`
	PGP     []string `yaml:"pgp"`
}

type destinationShape struct {
	PathRegex        string    `yaml:"path_regex"`
	S3Bucket         string    `yaml:"s3_bucket"`
	S3Prefix         string    `yaml:"s3_prefix"`
	GCSBucket        string    `yaml:"gcs_bucket"`
	GCSPrefix        string    `yaml:"gcs_prefix"`
	VaultPath        string    `yaml:"vault_path"`
	VaultAddress     string    `yaml:"vault_address"`
	VaultKVMountName string    `yaml:"vault_kv_mount_name"`
	VaultKVVersion   int       `yaml:"vault_kv_version"`
	RecreationRule   ruleShape `yaml:"recreation_rule"`
	OmitExtensions   bool      `yaml:"omit_extensions"`
}

// BadConfig is an error in a .sops.yaml that prevents all encryption: SOPS refuses the file, or would interpret it
// differently than its author probably meant.
type BadConfig struct {
	File         string
	Line, Column int
	Message      string
	hint         string
}

func (e *BadConfig) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Hint returns how to fix the error.
func (e *BadConfig) Hint() string { return e.hint }

// CheckConfig returns an error for a .sops.yaml with a value whose type SOPS does not accept, a misspelt field, or
// no creation rules. SOPS ignores unknown fields: with a misspelt path_regex a rule applies to all files, and with
// misspelt creation_rules the file has no rules. The error is a *BadConfig.
func CheckConfig(file string, data []byte) error {
	fail := func(n *yaml.Node, hint, format string, args ...any) error {
		return &BadConfig{File: file, Line: max(n.Line, 1), Column: max(n.Column, 1), Message: fmt.Sprintf(format, args...), hint: hint}
	}
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&doc); err != nil || len(doc.Content) == 0 {
		return fail(&doc, noRulesHint, "the file has no creation_rules")
	}
	if err := misspelt(doc.Content[0], reflect.TypeFor[configShape](), fail); err != nil {
		return err
	}
	var shape configShape
	if err := doc.Decode(&shape); err != nil {
		line, text := 1, strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n  ")
		if _, scan := fmt.Sscanf(text, "line %d:", &line); scan == nil {
			_, text, _ = strings.Cut(text, ": ")
		}
		text, _, _ = strings.Cut(text, "\n")
		text, _, _ = strings.Cut(masked(text), " into ") // a Go type of this package
		return fail(&yaml.Node{Line: line}, "see https://getsops.io/docs/#using-sopsyaml-conf-to-select-kms-pgp-and-age-for-new-files", "sops refuses the file, because a value has the wrong type: %s", text)
	}
	if len(shape.CreationRules) == 0 {
		return fail(doc.Content[0], noRulesHint, "the file has no creation_rules")
	}
	return nil
}

const noRulesHint = "add creation_rules that name the recipients of files, or let fleetwright render generate them from the specification's Encryption"

// masked returns a message of the YAML library without the value that it quotes.
func masked(text string) string {
	before, rest, found := strings.Cut(text, "`")
	if _, after, closed := strings.Cut(rest, "`"); found && closed {
		return strings.TrimSpace(before) + after
	}
	return text
}

// misspelt finds the first field whose name is similar to the name of a SOPS field.
func misspelt(n *yaml.Node, shape reflect.Type, fail func(*yaml.Node, string, string, ...any) error) error {
	switch {
	case shape.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			if err := misspelt(item, shape.Elem(), fail); err != nil {
				return err
			}
		}
	case shape.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		known := map[string]reflect.Type{}
		var names []string
		for i := range shape.NumField() {
			name := shape.Field(i).Tag.Get("yaml")
			known[name], names = shape.Field(i).Type, append(names, name)
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if field, ok := known[key.Value]; ok {
				if err := misspelt(n.Content[i+1], field, fail); err != nil {
					return err
				}
				continue
			}
			if at := slices.IndexFunc(names, func(name string) bool { return nearly(key.Value, name) }); at >= 0 {
				return fail(key, fmt.Sprintf("write %s", names[at]), "sops ignores the unknown field %q", key.Value)
			}
		}
	}
	return nil
}

// nearly reports whether a name differs from another one in one or two letters, or only in its style.
func nearly(name, other string) bool {
	plain := func(s string) string {
		return strings.TrimSuffix(strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s)), "s")
	}
	a, b := plain(name), plain(other)
	most := min(2, len(b)/4)
	return a == b || nearest.Distance(a, b) <= most
}
