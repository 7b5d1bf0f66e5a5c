package functions

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/secrets/envelope"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

const anyMAC = "ENC[AES256_GCM,data:bWFj,iv:c29tZQ==,tag:dGFn,type:str]"

const kindEncrypt = "apiVersion: fleetwright.dev/v1alpha1\nkind: EncryptSecrets\nmetadata: {name: e}\n"

// secretItem is an item of kpt's that stands in a file.
func secretItem(file, rest string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: app\n  annotations:\n    note: kept\n    config.kubernetes.io/path: '" + file + "'\n    config.kubernetes.io/index: '0'\n" +
		"    internal.config.kubernetes.io/path: '" + file + "'\n    internal.config.kubernetes.io/index: '0'\n    internal.config.kubernetes.io/package-path: pkg\n" + rest
}

// listWith is a ResourceList of kpt's.
func listWith(config string, items ...string) string {
	var b strings.Builder
	b.WriteString("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n" + indented(config) + "items:\n")
	for _, item := range items {
		lines := strings.SplitAfter(strings.TrimRight(item, "\n")+"\n", "\n")
		b.WriteString("- " + strings.Join(lines[:len(lines)-1], "  "))
	}
	return b.String()
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}

// encryptRun runs the function on a list, and returns the list that it writes.
func encryptRun(t *testing.T, root, in string) (*resourceList, error) {
	t.Helper()
	var out bytes.Buffer
	failure := Run(t.Context(), strings.NewReader(in), &out, Options{Root: root})
	if strings.Contains(out.String()+fmt.Sprint(failure), "canary-in-an-error") {
		t.Error("a value is told")
	}
	list, err := readList(&out)
	if err != nil {
		t.Fatal(err)
	}
	return list, failure
}

func TestEncryptSecrets(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	private, public, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	ids, err := keys.Parse("a test's", private)
	if err != nil {
		t.Fatal(err)
	}
	// The checksum is of the labels and annotations too, and is right in the file that
	// kpt writes, without the annotations that it takes away.
	rules := "spec:\n  creationRules:\n  - {path_regex: '^app/', encrypted_regex: '^(data|stringData)$', age: " + public + "}\n"
	for name, data := range map[string]string{
		"stringData": "stringData: # of the application\n  # the password\n  password: 'canary: \"quoted\"'\n  text: |\n    two\n    lines\n  number: \"1234\"\n",
		"data":       "type: Opaque\ndata:\n  password: Y2FuYXJ5\n",
	} {
		list, err := encryptRun(t, t.TempDir(), listWith(kindEncrypt+rules, secretItem("app/db.yaml", data), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n"))
		if err != nil || len(list.items) != 2 || list.items[1].GetName() != "other" {
			t.Fatalf("%s: %v", name, err)
		}
		written, err := encodeFile([]*kyaml.RNode{list.items[0].Copy()})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := envelope.Decrypt("app/db.yaml", written, ids)
		if err != nil {
			t.Fatalf("%s: what kpt writes can't be opened: %v\n%s", name, err, written)
		}
		for _, line := range strings.Split(strings.TrimSpace(data), "\n") {
			if value := strings.TrimSpace(line); !strings.HasPrefix(value, "stringData") && !strings.Contains(string(plain), strings.Trim(strings.TrimPrefix(value, "password: "), "'")) && !strings.Contains(value, "quoted") {
				t.Errorf("%s: %q is lost in\n%s", name, value, plain)
			}
		}
		if bytes.Contains(written, []byte("canary")) || bytes.Contains(written, []byte("Y2FuYXJ5")) || bytes.Contains(plain, []byte("config.kubernetes.io")) {
			t.Errorf("%s: in plaintext, or with kpt's annotations:\n%s\n%s", name, written, plain)
		}
		// Again: not a byte changes.
		var again bytes.Buffer
		list.stream.FunctionConfig = nil
		in := listWith(kindEncrypt+rules, list.items[0].MustString())
		if err := Run(t.Context(), strings.NewReader(in), &again, Options{}); err != nil {
			t.Fatal(err)
		}
		if second, err := readList(&again); err != nil || second.items[0].MustString() != list.items[0].MustString() {
			t.Errorf("%s: a second run changes it: %v", name, err)
		}
	}
}

func TestEncryptSecretsByTheSpecification(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	_, public, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	spec := []string{
		"apiVersion: fleetwright.dev/v1alpha1\nkind: Fleet\nmetadata: {name: f}\nspec: {repository: {url: 'https://h/f'}}\n",
		"apiVersion: fleetwright.dev/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\n",
		"apiVersion: fleetwright.dev/v1alpha1\nkind: Encryption\nmetadata: {name: e}\nspec: {recipients: {clusters: {eu: {age: [" + public + "]}}}}\n",
	}
	list, err := encryptRun(t, "", listWith(kindEncrypt, append(spec, secretItem("clusters/eu/db.sops.yaml", "stringData: {password: canary-in-an-error}\n"))...))
	if err != nil || lookup(list.items[3].YNode(), "sops", "age") == nil {
		t.Errorf("by the specification: %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".sops.yaml"), []byte("creation_rules:\n- age: "+public+"\n  encrypted_regex: ^(data|stringData)$\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, err = encryptRun(t, dir, listWith("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {function: EncryptSecrets, root: .}\n", secretItem("x.yaml", "stringData: {password: canary-in-an-error}\n")))
	if err != nil || lookup(list.items[0].YNode(), "sops") == nil {
		t.Errorf("by a folder: %v", err)
	}
	list, err = encryptRun(t, dir, listWith("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {function: EncryptSecrets, creationRules: '[{encrypted_regex: ^stringData$, age: "+public+"}]'}\n", secretItem("x.yaml", "stringData: {password: canary-in-an-error}\n")))
	if err != nil || lookup(list.items[0].YNode(), "sops") == nil {
		t.Errorf("by the text of a ConfigMap: %v", err)
	}
}

func TestEncryptSecretsRefuses(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	_, public, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	rules := "spec:\n  creationRules:\n  - {path_regex: '\\.sops\\.yaml$', encrypted_regex: '^(data|stringData)$', age: " + public + "}\n"
	clear := "stringData: {password: canary-in-an-error}\n"
	for name, c := range map[string]struct {
		config string
		items  []string
		want   []string
		input  bool
	}{
		"no rule is for it":          {rules, []string{secretItem("db.yaml", clear)}, []string{"db.yaml: Secret app/db: no rule matches this file", "hint: rename it so that a rule matches"}, false},
		"beside others":              {rules, []string{secretItem("db.sops.yaml", clear), strings.Replace(secretItem("db.sops.yaml", clear), "name: db", "name: other", 1)}, []string{"Secret app/db: its file contains other objects", "Secret app/other: "}, false},
		"without a file":             {rules, []string{"apiVersion: v1\nkind: Secret\nmetadata: {name: db}\n" + clear}, []string{"Secret db: it is in no file"}, false},
		"a value added in plaintext": {rules, []string{secretItem("db.sops.yaml", clear+"sops: {mac: '"+anyMAC+"', lastmodified: '2026-01-01T00:00:00Z', encrypted_regex: ^stringData$}\n")}, []string{`"stringData.password" is in plaintext, although the Secret has SOPS metadata`}, false},
		"metadata that sops refuses": {rules, []string{secretItem("db.sops.yaml", clear+"sops: {mac: '"+anyMAC+"', encrypted_regex: ^data$}\n")}, []string{"its SOPS metadata are incomplete"}, false},
		"all of it encrypted":        {strings.Replace(rules, "^(data|stringData)$", ".*", 1), []string{secretItem("db.sops.yaml", clear)}, []string{"its rule also encrypts fields that kpt needs"}, false},
		"no recipient":               {"spec:\n  creationRules:\n  - {encrypted_regex: data}\n", []string{secretItem("db.sops.yaml", clear)}, []string{"db.sops.yaml: Secret app/db: ", "has no recipient"}, false},
		"nothing says who":           {"", []string{secretItem("db.sops.yaml", clear)}, []string{"no rule says who can decrypt the Secrets"}, true},
		"two say":                    {rules + "  root: .\n", []string{secretItem("db.sops.yaml", clear)}, []string{"cannot be used together"}, true},
		"no list":                    {"spec: {creationRules: {age: x}}\n", nil, []string{"spec.creationRules: want a list"}, true},
		"a folder outside":           {"spec: {root: ..}\n", nil, []string{"is outside of the working directory"}, true},
		"a folder without":           {"spec: {root: .}\n", nil, []string{"contains no readable .sops.yaml"}, true},
	} {
		in := listWith(kindEncrypt+c.config, append(c.items, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: last}\n")...)
		// The value itself stands in the items that are given back, as they were.
		var out bytes.Buffer
		err := Run(t.Context(), strings.NewReader(in), &out, Options{Root: t.TempDir()})
		list, readErr := readList(&out)
		if readErr != nil {
			t.Fatal(readErr)
		}
		var input *advice.Error
		var found *FindingsError
		if err == nil || errors.As(err, &input) != c.input || errors.As(err, &found) == c.input || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		text := err.Error()
		if input != nil {
			text += "\nhint: " + input.Hint()
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q does not say %q", name, text, want)
			}
		}
		if len(list.items) != len(c.items)+1 || slices.ContainsFunc(list.items[:len(c.items)], func(n *kyaml.RNode) bool {
			return strings.Contains(n.MustString(), "age:")
		}) {
			t.Errorf("%s: items changed", name)
		}
	}
	// kustomize's items.
	in := listWith(kindEncrypt+rules, "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  annotations: {kustomize.config.k8s.io/id: x}\n"+clear)
	if err := Run(t.Context(), strings.NewReader(in), &bytes.Buffer{}, Options{}); err == nil || !strings.Contains(err.Error(), "EncryptSecrets works only in kpt") {
		t.Errorf("kustomize: %v", err)
	}
}
