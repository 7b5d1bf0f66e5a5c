package reconcile

import (
	"slices"
	"testing"
)

// TestComputed: what variables of which one is from a Secret come to is as secret as it is, and so is the default of a
// variable that is named as secrets are; words and what other variables hold are not.
func TestComputed(t *testing.T) {
	const secret = "kX9vbQ2mZ7pL4tR8"
	vars := Variables{
		"CARRIED": {Name: "CARRIED", Value: secret, Known: true, From: &Object{Identity: Identity{Kind: "Secret"}}},
		"PLAIN":   {Name: "PLAIN", Value: secret, Known: true},
		"UNKNOWN": {Name: "UNKNOWN"},
	}
	for text, want := range map[string]string{
		"a ${CARRIED:0:8} b": "kX9vbQ2m", "${CARRIED:4}": "bQ2mZ7pL4tR8", "${CARRIED#kX9}": "vbQ2mZ7pL4tR8", "${CARRIED%R8}": "kX9vbQ2mZ7pL4t",
		"${CARRIED/kX9v/zz}": "zzbQ2mZ7pL4tR8", "${CARRIED/kX9v/}": "bQ2mZ7pL4tR8", "${CARRIED^}": "KX9vbQ2mZ7pL4tR8", "${NOWHERE:-${CARRIED:2:9}}": "9vbQ2mZ7p",
		"${NOWHERE:-a-${PLAIN}-${CARRIED:2:9}}": "a-kX9vbQ2mZ7pL4tR8-9vbQ2mZ7p", "${PLAIN:0:8} ${CARRIED:4}": "bQ2mZ7pL4tR8",
		"${DB_PASSWORD:-kX9vbQ2mZ7pL4tR8}": secret, "${DB_PASSWORD:=Sommer2024!berlin}": "Sommer2024!berlin", "${DB_PASSWORD=a1-b2-C3}": "a1-b2-C3",
		"${CARRIED}": "", "${PLAIN:0:8}": "", "${UNKNOWN:0:8}": "", "${#CARRIED}": "", "${CARRIED:0:2}": "", "${REGION:-eu-west-1}": "", "${": "", "${CARRIED:0:8": "", "${A:-${": "",
	} {
		got := vars.computed(text)
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s comes to %q, want %q", text, got, want)
		}
	}
}
