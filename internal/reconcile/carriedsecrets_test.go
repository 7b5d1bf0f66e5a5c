package reconcile

import (
	"slices"
	"testing"

	"github.com/fluxcd/pkg/envsubst/parse"
)

// TestCarry: what functions of variables make of a secret is as secret as it is, and so is the default of a
// variable that is named as secrets are; words and what other variables hold are not.
func TestCarry(t *testing.T) {
	const secret = "kX9vbQ2mZ7pL4tR8"
	vars := Variables{
		"CARRIED": {Name: "CARRIED", Value: secret, Known: true, From: &Object{Identity: Identity{Kind: "Secret"}}},
		"PLAIN":   {Name: "PLAIN", Value: secret, Known: true},
		"UNKNOWN": {Name: "UNKNOWN"},
	}
	for text, want := range map[string]string{
		"a ${CARRIED:0:8} b": "kX9vbQ2m", "${CARRIED:4}": "bQ2mZ7pL4tR8", "${CARRIED#kX9}": "vbQ2mZ7pL4tR8", "${CARRIED%R8}": "kX9vbQ2mZ7pL4t",
		"${CARRIED/kX9v/zz}": "zzbQ2mZ7pL4tR8", "${CARRIED/kX9v/}": "bQ2mZ7pL4tR8", "${CARRIED^}": "KX9vbQ2mZ7pL4tR8", "${NOWHERE:-${CARRIED:2:9}}": "9vbQ2mZ7p",
		"${DB_PASSWORD:-kX9vbQ2mZ7pL4tR8}": secret, "${DB_PASSWORD:=Sommer2024!berlin}": "Sommer2024!berlin", "${DB_PASSWORD=a1-b2-C3}": "a1-b2-C3",
		"${CARRIED}": "", "${PLAIN:0:8}": "", "${UNKNOWN:0:8}": "", "${#CARRIED}": "", "${CARRIED:0:2}": "", "${REGION:-eu-west-1}": "", "${": "",
	} {
		k := &Kustomization{}
		vars.carry(text, k)
		if want == "" && len(k.carried) > 0 || want != "" && !slices.Contains(k.carried, want) {
			t.Errorf("%s carries %q, want %q", text, k.carried, want)
		}
	}
}

// TestSourceOf: what is parsed is written as it was.
func TestSourceOf(t *testing.T) {
	for _, text := range []string{
		"a", "${A}", "${A:1}", "${A:1:2}", "${A#b}", "${A##b}", "${A%b}", "${A%%b}", "${A/b/c}", "${A//b/c}", "${A/#b/c}", "${A/%b/c}", "${A,}", "${A^^}", "${#A}",
		"${A:-b}", "${A:-${B:1}c}", "${A=b}", "${A:=b}", "a${A}b${B:=c}d",
	} {
		tree, err := parse.Parse(text)
		if err != nil {
			t.Fatal(text, err)
		}
		if got := sourceOf(tree.Root); got != text {
			t.Errorf("%s is written %s", text, got)
		}
	}
}
