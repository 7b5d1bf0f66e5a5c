package functions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/regular"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/envelope"
	"github.com/fleetwright/fleetwright/internal/settings"
	"github.com/fleetwright/fleetwright/internal/specs"
)

// encryptSecrets is the configuration of EncryptSecrets.
type encryptSecrets struct {
	rules []byte // a .sops.yaml
	root  string
	now   time.Time
}

func newEncryptSecrets() (settings.Fields, runner) {
	f := &encryptSecrets{}
	return settings.Fields{"creationRules": f.creationRules, "root": settings.Text(&f.root)}, f.run
}

// creationRules reads the rules of a .sops.yaml; in a ConfigMap they are a string.
func (f *encryptSecrets) creationRules(n *kyaml.Node) error {
	rules := n
	if n.Kind == kyaml.ScalarNode {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(n.Value), &doc); err != nil || len(doc.Content) != 1 {
			return errors.New("want creation_rules of a .sops.yaml, in YAML")
		}
		rules = doc.Content[0]
	}
	if rules.Kind != kyaml.SequenceNode {
		return errors.New("want a list: creation_rules of a .sops.yaml")
	}
	text, err := yaml.Marshal(map[string]any{"creation_rules": rules})
	f.rules = text
	return err
}

// run encrypts the plaintext Secrets among the items.
func (f *encryptSecrets) run(_ context.Context, list *resourceList, o Options) error {
	if list.kustomize {
		return advice.Input(
			errors.New("EncryptSecrets works only in kpt: kustomize would read plaintext Secrets from Git, and encrypt them again at each build"),
			"encrypt the files with \"fleetwright secrets encrypt\", and list them as resources",
		)
	}
	p, err := readPackage(list)
	if err != nil {
		return advice.Input(err, "")
	}
	f.now = o.Now
	config, err := f.config(list, o)
	if err != nil {
		return err
	}
	replaced := map[string][]*kyaml.RNode{}
	var lines []string
	for _, item := range list.items {
		if !isSecretItem(item) {
			continue
		}
		file, err := p.fileOf(item)
		if err != nil {
			return advice.Input(err, "")
		}
		content, err := f.encrypt(item, file, len(p.files[file]), config)
		if err != nil {
			lines = append(lines, list.refuse(item, file, err))
			continue
		}
		if content == nil {
			continue
		}
		if replaced[file], err = p.place(file, content); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(lines) > 0 {
		return &FindingsError{Text: strings.Join(lines, "\n")}
	}
	list.items = p.replace(list.items, replaced)
	for _, file := range slices.Sorted(maps.Keys(replaced)) {
		list.note(framework.Info, file, "encrypted")
	}
	return nil
}

// isSecretItem reports whether an item is a Secret of Kubernetes.
func isSecretItem(n *kyaml.RNode) bool { return n.GetApiVersion() == "v1" && n.GetKind() == "Secret" }

// config returns the rules for the recipients of each file: the functionConfig's own rules, those of the .sops.yaml in a
// folder, or the rules that are rendered from the specification among the items.
func (f *encryptSecrets) config(list *resourceList, o Options) (*secrets.Config, error) {
	bad := func(err error, hint string) error {
		return advice.Input(fmt.Errorf("functionConfig EncryptSecrets: %w", err), hint)
	}
	content := f.rules
	switch {
	case f.root != "" && f.rules != nil:
		return nil, bad(errors.New("spec.root and spec.creationRules cannot be used together"), "")
	case f.root != "":
		dir, err := inside(o.Root, f.root, "spec.root")
		if err != nil {
			return nil, err
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		defer func() { _ = root.Close() }()
		if content, err = regular.ReadIn(root, secrets.ConfigName, 1<<20); err != nil {
			return nil, bad(fmt.Errorf("spec.root %q contains no readable %s", f.root, secrets.ConfigName), "name the folder that contains .sops.yaml")
		}
	case f.rules == nil:
		var nodes []*yaml.Node
		for _, item := range ownSpecification(list.items) {
			if isSpecification(item) {
				nodes = append(nodes, item.YNode())
			}
		}
		if len(nodes) == 0 {
			return nil, bad(errors.New("no rule says who can decrypt the Secrets"),
				"set spec.creationRules to creation_rules of a .sops.yaml, set spec.root to the folder of one (exec form), or add a specification with an Encryption to the items")
		}
		spec, err := specs.LoadNodes(nodes)
		if err != nil {
			return nil, err
		}
		return secrets.OfSpecification(spec)
	}
	config, err := secrets.ParseConfig(secrets.ConfigName, content)
	if err == nil && config.Err != nil {
		err = fmt.Errorf("%s: %w", secrets.ConfigName, config.Err)
	}
	if err != nil {
		return nil, bad(err, "")
	}
	return config, nil
}

// yamlIndent is the indentation of the files that kpt writes.
var yamlIndent = 2

// encrypt returns the encrypted file of a Secret; nil if the Secret has no values or is already encrypted.
func (f *encryptSecrets) encrypt(item *kyaml.RNode, file string, documents int, config *secrets.Config) ([]byte, error) {
	clear := item.Copy()
	for _, name := range passing {
		if err := clear.PipeE(kyaml.ClearAnnotation(name)); err != nil {
			return nil, err
		}
	}
	if err := kyaml.ClearEmptyAnnotations(clear); err != nil {
		return nil, err
	}
	var plain bytes.Buffer
	encoder := kyaml.NewEncoderWithOptions(&plain, &kyaml.EncoderOptions{SeqIndent: kyaml.CompactSequenceStyle})
	if err := encoder.Encode(clear.YNode()); err != nil {
		return nil, err
	}
	switch {
	case lookup(item.YNode(), "sops") != nil:
		return nil, stays(plain.Bytes())
	case !hasValues(item):
		return nil, nil
	case file == "":
		return nil, advice.New(errors.New("it is in no file, but rules match the path of a file"), "put it into a file of the package")
	case documents > 1:
		return nil, advice.New(errors.New("its file contains other objects, but SOPS encrypts whole files"), "move it to a separate file")
	}
	rule := config.For(file)
	if rule == nil {
		return nil, advice.New(errors.New("no rule matches this file"), "rename it so that a rule matches, such as NAME.sops.yaml, or add a rule")
	}
	with := *rule
	if with.Indents.YAML == nil {
		with.Indents.YAML = &yamlIndent
	}
	content, err := envelope.Encrypt(file, plain.Bytes(), &with, f.now)
	if err != nil {
		return nil, err
	}
	if after, err := parseFile(content); err != nil || len(after) != 1 || idOf(after[0]) != idOf(item) {
		return nil, advice.New(errors.New("its rule also encrypts fields that kpt needs to recognize the Secret"), "set encrypted_regex of the rule to ^(data|stringData)$")
	}
	return content, nil
}

// stays returns an error if an encrypted Secret cannot stay unchanged, because it has a plaintext value that its own SOPS
// metadata do not allow.
func stays(content []byte) error {
	if secrets.StateOf("item.yaml", content) != secrets.Encrypted {
		return advice.New(errors.New("its SOPS metadata are incomplete: it was truncated, or edited by hand"), "restore the file from before the change (git log -p)")
	}
	if clear, _ := secrets.ClearIn("item.yaml", content, secrets.Selection{}); len(clear) > 0 {
		return advice.New(fmt.Errorf("%q is in plaintext, although the Secret has SOPS metadata", clear[0].Name), "fix it with sops edit")
	}
	return nil
}

// hasValues reports whether a Secret has a value.
func hasValues(item *kyaml.RNode) bool {
	return slices.ContainsFunc([]string{"data", "stringData"}, func(field string) bool {
		n := lookup(item.YNode(), field)
		return n != nil && n.Kind == kyaml.MappingNode && len(n.Content) > 0
	})
}

// refuse adds a result for a Secret that cannot be encrypted, and returns the line of the error for it.
func (l *resourceList) refuse(item *kyaml.RNode, file string, err error) string {
	message := strings.TrimPrefix(err.Error(), file+": ")
	if hint := advice.HintOf(err); hint != "" {
		message += "\nhint: " + hint
	}
	r := &framework.Result{Message: message, Severity: framework.Error, ResourceRef: identify("v1", "Secret", item.GetNamespace(), item.GetName())}
	if file != "" {
		r.File = &framework.File{Path: file}
	}
	l.results = append(l.results, r)
	line := nameOf(item) + ": " + strings.ReplaceAll(message, "\n", "\n  ")
	if file != "" {
		line = file + ": " + line
	}
	return line
}
