// Package secrets knows what SOPS encrypts for whom, and what is a secret in plaintext.
package secrets

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

// ConfigName is the file that tells SOPS who can decrypt which files. SOPS takes
// the nearest one: of the folder of the file that it encrypts, or of the first
// folder above that has one.
const ConfigName = ".sops.yaml"

// Config is a .sops.yaml.
type Config struct {
	// File is its path in the repository.
	File string
	// Rules in their order, the first that matches a file's path counting.
	Rules []CreationRule
	// Err says why SOPS refuses the file, nil where it doesn't.
	Err *ConfigError

	// size is that of the regular expressions, in instructions.
	size int
}

// ConfigError is what is wrong with a .sops.yaml, and where.
type ConfigError struct {
	Line, Column int
	Message      string
	// Limit says that Fleetwright doesn't evaluate it, since it goes beyond a fixed limit: SOPS
	// might take it.
	Limit bool
}

func (e *ConfigError) Error() string { return e.Message }

// CreationRule says who can decrypt the files whose paths match.
type CreationRule struct {
	// PathRegex is "" for all files.
	PathRegex    string
	Line, Column int
	// Recipients of all key groups.
	Recipients []Recipient
	// Groups of recipients, one where the rule has no key groups: none twice in a group.
	Groups [][]Recipient
	// Threshold is how many of the groups are needed: all where it is 0.
	Threshold int
	Selection
	// Indents of the files that SOPS writes.
	Indents Indents
	// Err says why SOPS refuses to encrypt by the rule, nil where it doesn't.
	Err *ConfigError

	regex *regexp.Regexp
}

// Selection says which values of a file are encrypted, by the keys above them or by comments.
// One of the texts at most is set; without one, all values are whose key does not end with
// "_unencrypted".
type Selection struct {
	EncryptedRegex, UnencryptedRegex               string
	EncryptedSuffix, UnencryptedSuffix             string
	EncryptedCommentRegex, UnencryptedCommentRegex string
	// MACOnlyEncrypted leaves what is not encrypted out of the checksum.
	MACOnlyEncrypted bool
}

// Chosen is how many of the texts are set: SOPS wants one at most.
func (s Selection) Chosen() int {
	set := 0
	for _, text := range []string{s.EncryptedRegex, s.UnencryptedRegex, s.EncryptedSuffix, s.UnencryptedSuffix, s.EncryptedCommentRegex, s.UnencryptedCommentRegex} {
		if text != "" {
			set++
		}
	}
	return set
}

// regexes are the regular expressions among the texts.
func (s Selection) regexes() []string {
	return []string{s.EncryptedRegex, s.UnencryptedRegex, s.EncryptedCommentRegex, s.UnencryptedCommentRegex}
}

// Counted returns an error where a regular expression is too large to be compared with the keys of a file,
// for each of which SOPS compiles it.
func (s Selection) Counted() error {
	for _, text := range s.regexes() {
		if err := count.Short(text); err != nil {
			return fmt.Errorf("which values are encrypted is not evaluated: %w", err)
		}
	}
	return nil
}

func readSelection(n *yaml.Node) Selection {
	return Selection{
		EncryptedRegex: text(n, "encrypted_regex"), UnencryptedRegex: text(n, "unencrypted_regex"),
		EncryptedSuffix: text(n, "encrypted_suffix"), UnencryptedSuffix: text(n, "unencrypted_suffix"),
		EncryptedCommentRegex: text(n, "encrypted_comment_regex"), UnencryptedCommentRegex: text(n, "unencrypted_comment_regex"),
		MACOnlyEncrypted: isTrue(n, "mac_only_encrypted"),
	}
}

// Indents are how many blanks SOPS indents by, as the stores of .sops.yaml say: nil for its
// own choice.
type Indents struct{ YAML, JSON, Binary *int }

func readIndents(root *yaml.Node) Indents {
	stores := repository.Lookup(root, "stores")
	return Indents{number(stores, "yaml"), number(stores, "json"), number(stores, "json_binary")}
}

func number(stores *yaml.Node, store string) *int {
	n := repository.Lookup(stores, store, "indent")
	value := 0
	if n == nil || n.Decode(&value) != nil {
		return nil
	}
	return &value
}

// Recipient is a key that data keys are encrypted to.
type Recipient struct {
	// Service is the name of the metadata's field: age, pgp, kms, gcp_kms, azure_kv,
	// hc_vault or hckms. ID is the public key, fingerprint or address.
	Service, ID  string
	Line, Column int
}

// Same says whether two recipients are one key.
func (r Recipient) Same(other Recipient) bool {
	if r.Service != other.Service {
		return false
	}
	a, b := normal(r), normal(other)
	if r.Service == "pgp" || r.Service == "azure_kv" {
		// A fingerprint may be a short one, and an Azure key without its version.
		return strings.HasSuffix(a, b) || strings.HasSuffix(b, a) || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
	}
	return a == b
}

func normal(r Recipient) string {
	id := strings.TrimSpace(r.ID)
	switch r.Service {
	case "age":
		return keys.Bare(id)
	case "pgp":
		return strings.ToUpper(strings.ReplaceAll(id, " ", ""))
	case "kms":
		id, _, _ = strings.Cut(id, "+") // the role to take
		return id
	case "azure_kv", "hc_vault":
		return strings.TrimRight(id, "/")
	}
	return id
}

// Matches says whether the rule is for a file, whose path is from the folder of the
// .sops.yaml.
func (r CreationRule) Matches(file string) bool { return r.regex == nil || r.regex.MatchString(file) }

// For is the rule of a file, whose path is from the repository's root, nil where none
// matches.
func (c *Config) For(file string) *CreationRule {
	if dir := path.Dir(c.File); dir != "." {
		file = strings.TrimPrefix(file, dir+"/")
	}
	for i := range c.Rules {
		if c.Rules[i].Matches(file) {
			return &c.Rules[i]
		}
	}
	return nil
}

// ConfigFor is the .sops.yaml that SOPS takes for a file, nil where there is none.
func ConfigFor(configs map[string]*Config, file string) *Config {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if c := configs[dir]; c != nil {
			return c
		}
		if dir == "." || dir == "/" {
			return nil
		}
	}
}

// Configs reads all files .sops.yaml of a repository, by their folders. One without creation
// rules counts as none, but hides those above it.
func Configs(repo *repository.Repository) map[string]*Config {
	configs := map[string]*Config{}
	for _, f := range repo.Files() {
		if path.Base(f.Path) == ConfigName {
			configs[path.Dir(f.Path)] = configIn(f)
		}
	}
	return configs
}

// ParseConfig reads the text of a .sops.yaml that stands at a path.
func ParseConfig(file string, data []byte) (*Config, error) {
	repo, err := repository.FromFiles(func(yield func(string, []byte) bool) { yield(path.Base(file), data) }, repository.Options{})
	if err != nil {
		return nil, err
	}
	f, ok := repo.File(path.Base(file))
	if !ok {
		return &Config{File: file}, nil
	}
	if f.Err != nil {
		refused := *f.Err
		refused.Path = file
		return nil, &refused
	}
	c := configIn(f)
	c.File = file
	return c, nil
}

func configIn(f *repository.File) *Config {
	c := &Config{File: f.Path}
	if f.Err == nil && len(f.Documents) > 0 {
		c.read(f.Documents[0].Root())
	}
	return c
}

// read reads the rules as SOPS does.
// Source: github.com/getsops/sops/v3 v3.13 config, creationRule and keyGroup.
func (c *Config) read(root *yaml.Node) {
	rules := repository.Lookup(root, "creation_rules")
	if rules == nil || rules.Kind != yaml.SequenceNode {
		return
	}
	indents := readIndents(root)
	for i := range rules.Content {
		n := repository.Lookup(rules, i)
		if n == nil || n.Kind != yaml.MappingNode {
			continue
		}
		r := readRule(n)
		r.Indents = indents
		if r.PathRegex != "" {
			at := repository.Lookup(n, "path_regex")
			regex, err := count.CompileShort(r.PathRegex)
			if above := (*count.Error)(nil); errors.As(err, &above) {
				c.Err = &ConfigError{at.Line, at.Column, fmt.Sprintf("the path_regex is not evaluated: %v", err), true}
				return
			}
			if err != nil {
				c.Err = &ConfigError{at.Line, at.Column, fmt.Sprintf("sops refuses the path_regex: %v", err), false}
				return
			}
			r.regex = regex
		}
		if err := c.counted(r); err != nil {
			c.Err = &ConfigError{n.Line, n.Column, err.Error(), true}
			return
		}
		c.Rules = append(c.Rules, r)
	}
}

// counted counts the regular expressions of a rule, and those of the rules before it.
func (c *Config) counted(r CreationRule) error {
	if err := r.Counted(); err != nil {
		return err
	}
	for _, text := range append(r.regexes(), r.PathRegex) {
		size, _ := count.Instructions(text) // what is none is told elsewhere
		c.size += size
	}
	if c.size > count.MostTogether/10 {
		return fmt.Errorf("the rule is not evaluated: the regular expressions up to here come to more than %d instructions", count.MostTogether/10)
	}
	return nil
}

func readRule(n *yaml.Node) CreationRule {
	r := CreationRule{Line: n.Line, Column: n.Column, PathRegex: text(n, "path_regex"), Selection: readSelection(n)}
	for _, group := range ruleGroups(n) {
		r.Recipients = append(r.Recipients, group...)
		r.Groups = append(r.Groups, unique(group))
	}
	if threshold := repository.Lookup(n, "shamir_threshold"); threshold != nil && threshold.Decode(&r.Threshold) != nil {
		r.Err = &ConfigError{threshold.Line, threshold.Column, "shamir_threshold is no number", false}
	}
	if r.Chosen() > 1 {
		r.Err = &ConfigError{n.Line, n.Column, "sops refuses the rule: it has more than one of encrypted_suffix, unencrypted_suffix, encrypted_regex, " +
			"unencrypted_regex, encrypted_comment_regex and unencrypted_comment_regex", false}
	}
	return r
}

// Fields of a rule and of a key group, and the services that they are of.
var (
	ruleFields = map[string]string{
		"age": "age", "pgp": "pgp", "kms": "kms", "gcp_kms": "gcp_kms", "azure_keyvault": "azure_kv", "hc_vault_transit_uri": "hc_vault", "hckms": "hckms",
	}
	groupFields = map[string]string{
		"age": "age", "pgp": "pgp", "kms": "kms", "gcp_kms": "gcp_kms", "azure_keyvault": "azure_kv", "hc_vault": "hc_vault", "hckms": "hckms",
	}
)

// ruleGroups are the key groups, or where there are none, the recipients of the rule as one.
func ruleGroups(rule *yaml.Node) [][]Recipient {
	groups := repository.Lookup(rule, "key_groups")
	if groups == nil || len(groups.Content) == 0 {
		return [][]Recipient{recipientsIn(rule, ruleFields)}
	}
	var all [][]Recipient
	for i := range groups.Content {
		all = append(all, groupRecipients(repository.Lookup(groups, i)))
	}
	return all
}

// unique are the recipients of a group, none of them twice.
func unique(group []Recipient) []Recipient {
	var left []Recipient
	for _, r := range group {
		if !slices.ContainsFunc(left, r.Same) {
			left = append(left, r)
		}
	}
	return left
}

// groupRecipients are those of a key group and of those that it merges, which nest no deeper than a
// document may.
func groupRecipients(group *yaml.Node) []Recipient {
	if group == nil {
		return nil
	}
	all := recipientsIn(group, groupFields)
	if merged := repository.Lookup(group, "merge"); merged != nil {
		for i := range merged.Content {
			all = append(all, groupRecipients(repository.Lookup(merged, i))...)
		}
	}
	return all
}

func recipientsIn(n *yaml.Node, fields map[string]string) []Recipient {
	var all []Recipient
	for field, service := range fields {
		value := repository.Lookup(n, field)
		if value == nil {
			continue
		}
		if value.Kind == yaml.ScalarNode {
			all = append(all, split(service, value)...)
			continue
		}
		for i := range value.Content {
			all = append(all, member(service, repository.Lookup(value, i))...)
		}
	}
	sortRecipients(all)
	return all
}

// member is a recipient in a list: a text, or the fields of a key.
func member(service string, n *yaml.Node) []Recipient {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		return split(service, n)
	}
	id := ""
	switch service {
	case "age":
		id = text(n, "recipient")
	case "pgp":
		id = text(n, "fp")
	case "kms":
		id = text(n, "arn")
	case "gcp_kms":
		id = text(n, "resource_id")
	case "hckms":
		id = text(n, "key_id")
	case "azure_kv":
		if id = first(n, "vaultUrl", "vault_url"); id != "" {
			id = strings.TrimSuffix(strings.TrimRight(id, "/")+"/keys/"+first(n, "key", "name")+"/"+text(n, "version"), "/")
		}
	case "hc_vault":
		if id = text(n, "vault_address"); id != "" {
			id = strings.TrimRight(id, "/") + "/v1/" + text(n, "engine_path") + "/keys/" + text(n, "key_name")
		}
	}
	if id == "" {
		return nil
	}
	return []Recipient{{service, id, n.Line, n.Column}}
}

// split reads recipients with commas between them.
func split(service string, n *yaml.Node) []Recipient {
	var all []Recipient
	for id := range strings.SplitSeq(n.Value, ",") {
		if id = strings.TrimSpace(id); id != "" {
			all = append(all, Recipient{service, id, n.Line, n.Column})
		}
	}
	return all
}

func text(n *yaml.Node, field string) string {
	value := repository.Lookup(n, field)
	if value == nil || value.Kind != yaml.ScalarNode {
		return ""
	}
	return value.Value
}

func isTrue(n *yaml.Node, field string) bool {
	value := false
	at := repository.Lookup(n, field)
	return at != nil && at.Decode(&value) == nil && value
}

func first(n *yaml.Node, fields ...string) string {
	for _, field := range fields {
		if value := text(n, field); value != "" {
			return value
		}
	}
	return ""
}

// sortRecipients orders those of several fields as they stand in the file.
func sortRecipients(all []Recipient) {
	slices.SortStableFunc(all, func(a, b Recipient) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
}
