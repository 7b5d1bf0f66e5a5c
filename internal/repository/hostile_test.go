//go:build hostile

package repository

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Many inputs and many texts cost their sum, not their product.
func TestSecretInputsOfMany(t *testing.T) {
	var b strings.Builder
	b.WriteString("apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: a, namespace: b}\nspec:\n  inputs:\n")
	for i := range 20_000 {
		fmt.Fprintf(&b, "    - {name%d: Zk8sPq31xw7v}\n", i)
	}
	b.WriteString("  resources:\n    - apiVersion: v1\n      kind: Secret\n      metadata: {name: c, namespace: d}\n      stringData:\n        word:\n")
	for i := range 20_000 {
		fmt.Fprintf(&b, "          - text number %d of no input\n", i)
	}
	repo := inMemory(t, "-- set.yaml --\n"+b.String(), Limits{})
	start := time.Now()
	if got := repo.secretInputs(); len(got) > 0 {
		t.Errorf("%d inputs are known", len(got))
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it takes %s", took)
	}
}
