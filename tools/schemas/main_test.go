package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestEmbeddedSetIsWhatTheGeneratorGives compares the content, not the
// compressed bytes, which may differ between versions of Go.
func TestEmbeddedSetIsWhatTheGeneratorGives(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join("..", "..", "schemas")
	for name, content := range want {
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(unpacked(t, name, got), unpacked(t, name, content)) {
			t.Errorf("%s is not what the generator gives: run go -C tools/schemas run .", name)
		}
	}
	onDisk, err := filepath.Glob(filepath.Join(root, "data", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range onDisk {
		if _, ok := want["data/"+filepath.Base(f)]; !ok {
			t.Errorf("%s is no longer generated", f)
		}
	}
}

func unpacked(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	if filepath.Ext(name) != ".gz" {
		return data
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return text
}

func TestConverterRefusesAnUnknownKeyword(t *testing.T) {
	c := converter{}
	if _, err := c.convert(map[string]any{"type": "string", "not": map[string]any{}}, nil); err == nil {
		t.Error("a keyword that would be lost is accepted")
	}
	if _, err := c.convert(map[string]any{"$ref": refPrefix + "nowhere"}, nil); err == nil {
		t.Error("a reference to nothing is accepted")
	}
}

func TestConverterEndsAtARecursion(t *testing.T) {
	c := converter{schemas: map[string]map[string]any{
		"tree": {"type": "object", "properties": map[string]any{
			"left": map[string]any{"$ref": refPrefix + "tree"},
		}},
	}}
	got, err := c.convert(c.schemas["tree"], []string{"tree"})
	if err != nil {
		t.Fatal(err)
	}
	left := got["properties"].(map[string]any)["left"].(map[string]any)
	if left["x-kubernetes-preserve-unknown-fields"] != true {
		t.Errorf("a recursion gives %v, want anything to be allowed", left)
	}
}

// The embedded schemas of the Flux Operator's kinds have the messages of operator.rules, and no others; each of those is
// in one.
func TestOperatorMessages(t *testing.T) {
	messages, err := operatorMessages()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "schemas", "data", "fluxcd.controlplane.io_*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	used := map[string]bool{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var f file
		if err := json.Unmarshal(unpacked(t, name, data), &f); err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal(f.Schema)
		if err := setMessages(f.Schema, messages); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if after, _ := json.Marshal(f.Schema); !bytes.Equal(before, after) {
			t.Errorf("%s has other messages: run go -C tools/schemas run .", name)
		}
		for rule := range messages {
			encoded, _ := json.Marshal(rule)
			used[rule] = used[rule] || bytes.Contains(before, encoded)
		}
	}
	for rule := range messages {
		if !used[rule] {
			t.Errorf("operator.rules: no definition has the rule %s", rule)
		}
	}
	unknown := map[string]any{"x-kubernetes-validations": []any{map[string]any{"rule": "true", "message": "theirs"}}}
	if setMessages(unknown, messages) == nil {
		t.Error("a rule without a message of ours is taken")
	}
}
