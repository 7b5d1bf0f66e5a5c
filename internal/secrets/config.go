// Package secrets determines the recipients to which SOPS encrypts files, and finds secrets in plaintext.
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

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/encryption"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// ConfigName is the name of the file in which SOPS finds the recipients of each file. SOPS uses the
// nearest one: in the folder of the file that it encrypts, or in the first folder above that has
// one.
const ConfigName = encryption.File

// Config is a .sops.yaml.
type Config struct {
	// File is its path in the repository.
	File string
	// Rules in their order; the first one that matches a file's path applies.
	Rules []CreationRule
	// Err is the reason why SOPS refuses the file; nil if SOPS accepts it.
	Err *ConfigError

	// size is the size of all regular expressions, in instructions.
	size int
}

// ConfigError is an error in a .sops.yaml, with its place.
type ConfigError struct {
	Line, Column int
	Message      string
	// Limit is set if the file exceeds a fixed limit of Fleetwright: SOPS might accept it.
	Limit bool
}

func (e *ConfigError) Error() string { return e.Message }

// CreationRule contains the recipients of the files whose paths match.
type CreationRule struct {
	// PathRegex is "" for all files.
	PathRegex    string
	Line, Column int
	// Recipients of all key groups.
	Recipients []Recipient
	// Groups are the key groups of recipients, without duplicates in a group; a single group if the rule has no key groups.
	Groups [][]Recipient
	// Threshold is the number of groups that are needed to decrypt; 0 means all.
	Threshold int
	Selection
	// Indents are the indents of the files that SOPS writes.
	Indents Indents
	// Err is the reason why SOPS refuses to encrypt by the rule; nil if SOPS accepts it.
	Err *ConfigError

	regex *regexp.Regexp
}

// Selection selects the values of a file that are encrypted, by the keys above them or by comments.
// At most one of the strings is set. If none is, all values are encrypted except those whose key ends with
// "_unencrypted".
type Selection struct {
	EncryptedRegex, UnencryptedRegex               string
	EncryptedSuffix, UnencryptedSuffix             string
	EncryptedCommentRegex, UnencryptedCommentRegex string
	// MACOnlyEncrypted excludes unencrypted values from the checksum.
	MACOnlyEncrypted bool
}

// Chosen returns the number of strings that are set: SOPS allows at most one.
func (s Selection) Chosen() int {
	set := 0
	for _, text := range []string{s.EncryptedRegex, s.UnencryptedRegex, s.EncryptedSuffix, s.UnencryptedSuffix, s.EncryptedCommentRegex, s.UnencryptedCommentRegex} {
		if text != "" {
			set++
		}
	}
	return set
}

// regexes returns the regular expressions among the strings.
func (s Selection) regexes() []string {
	return []string{s.EncryptedRegex, s.UnencryptedRegex, s.EncryptedCommentRegex, s.UnencryptedCommentRegex}
}

// Counted returns an error if a regular expression is too large. SOPS compiles it again for each key of a file.
func (s Selection) Counted() error {
	for _, text := range s.regexes() {
		if err := count.Short(text); err != nil {
			return fmt.Errorf("cannot determine which values are encrypted: %w", err)
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

// Indents are the numbers of spaces by which SOPS indents, as the stores of .sops.yaml configure them; nil for SOPS's
// default.
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

// Same reports whether two recipients are the same key.
func (r Recipient) Same(other Recipient) bool {
	if r.Service != other.Service {
		return false
	}
	a, b := normal(r), normal(other)
	if r.Service == "pgp" || r.Service == "azure_kv" {
		// A fingerprint may be shortened, and an Azure key may have no version.
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
		id, _, _ = strings.Cut(id, "+") // the rest is the role to assume
		return id
	case "azure_kv", "hc_vault":
		return strings.TrimRight(id, "/")
	}
	return id
}

// Matches reports whether the rule is for a file, whose path is relative to the folder of the
// .sops.yaml.
func (r CreationRule) Matches(file string) bool { return r.regex == nil || r.regex.MatchString(file) }

// For returns the rule for a file, whose path is relative to the repository's root, or nil if none
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

// ConfigFor returns the .sops.yaml that SOPS uses for a file; nil without one.
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

// Configs reads all .sops.yaml files of a repository, by their folders. A file without creation
// rules has no effect, but SOPS does not search for others above it.
func Configs(repo *repository.Repository) map[string]*Config {
	configs := map[string]*Config{}
	for _, f := range repo.Files() {
		if path.Base(f.Path) == ConfigName {
			configs[path.Dir(f.Path)] = configIn(f)
		}
	}
	return configs
}

// ParseConfig parses the content of the .sops.yaml at a path.
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

// OfSpecification returns the rules of the platform's .sops.yaml as a specification is rendered to it.
func OfSpecification(spec *v1alpha1.Spec) (*Config, error) {
	content, err := encryption.Platform(spec)
	if err != nil {
		return nil, err
	}
	c, err := ParseConfig(ConfigName, content)
	if err == nil && c.Err != nil {
		err = fmt.Errorf("%s: %w", ConfigName, c.Err)
	}
	return c, err
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
				c.Err = &ConfigError{at.Line, at.Column, fmt.Sprintf("the path_regex was not evaluated: %v", err), true}
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

// counted returns an error if the regular expressions of a rule, and of the rules before it, are too large.
func (c *Config) counted(r CreationRule) error {
	if err := r.Counted(); err != nil {
		return err
	}
	for _, text := range append(r.regexes(), r.PathRegex) {
		size, _ := count.Instructions(text) // an invalid expression is reported elsewhere
		c.size += size
	}
	if c.size > limits.PatternsOfRules {
		return fmt.Errorf("the rule was not evaluated: the regular expressions of the file exceed %d instructions", limits.PatternsOfRules)
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
		r.Err = &ConfigError{threshold.Line, threshold.Column, "shamir_threshold is not a number", false}
	}
	if r.Chosen() > 1 {
		r.Err = &ConfigError{n.Line, n.Column, "sops refuses the rule: it has more than one of encrypted_suffix, unencrypted_suffix, encrypted_regex, " +
			"unencrypted_regex, encrypted_comment_regex and unencrypted_comment_regex", false}
	}
	return r
}

// The fields of a rule and of a key group, with the services of their recipients.
var (
	ruleFields = map[string]string{
		"age": "age", "pgp": "pgp", "kms": "kms", "gcp_kms": "gcp_kms", "azure_keyvault": "azure_kv", "hc_vault_transit_uri": "hc_vault", "hckms": "hckms",
	}
	groupFields = map[string]string{
		"age": "age", "pgp": "pgp", "kms": "kms", "gcp_kms": "gcp_kms", "azure_keyvault": "azure_kv", "hc_vault": "hc_vault", "hckms": "hckms",
	}
)

// ruleGroups returns the key groups of a rule. For a rule without key groups, it returns a single group with the rule's
// recipients.
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

// unique returns the recipients of a group without duplicates.
func unique(group []Recipient) []Recipient {
	var left []Recipient
	for _, r := range group {
		if !slices.ContainsFunc(left, r.Same) {
			left = append(left, r)
		}
	}
	return left
}

// groupRecipients returns the recipients of a key group and of the groups that it merges; their depth is limited as that of a
// document.
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

// member returns the recipients of an item in a list: a string, or the fields of a key.
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

// split parses recipients separated by commas.
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

// sortRecipients sorts the recipients of several fields by their place in the file.
func sortRecipients(all []Recipient) {
	sorting.StableFunc(all, func(a, b Recipient) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
}
