package k0rdent_test

import (
	"slices"
	"testing"

	"github.com/fleetwright/fleetwright/examples/platformtest"
)

// Statuses of k0rdent's kinds, as kcm writes them.
var (
	ready    = []string{"{ready: true}"}
	notReady = []string{"{}", "{ready: false}"}
	valid    = []string{"{valid: true}"}
	invalid  = []string{"{}", "{valid: false}", "{valid: false, validationError: no chart}"}
)

func checkReleaseReady(t *testing.T, r *rendered) {
	for step, want := range map[string]any{
		"kcm": true, "release": true, "management": true, "templates": true, "credentials": true,
		// It waits for single objects, and making a cluster takes as long as it takes.
		"access": nil, "clusters": nil, "services": nil,
	} {
		if got := r.Must("Kustomization", "k0rdent-"+step).Get("spec", "wait"); got != want {
			t.Errorf("wait of k0rdent-%s is %v, want %v", step, got, want)
		}
	}
	for _, kind := range []struct {
		name, step           string
		healthy, progressing []string
	}{
		{"Release", "release", ready, notReady},
		{"ProviderTemplate", "release", valid, invalid},
		{"Management", "management",
			[]string{"{conditions: [{type: AllComponentsHealthy, status: 'False'}, {type: Ready, status: 'True'}]}"},
			[]string{"{}", "{conditions: []}", "{conditions: [{type: Ready, status: 'False'}]}", "{conditions: [{type: Ready, status: Unknown}]}",
				"{conditions: [{type: AllComponentsHealthy, status: 'True'}]}"}},
		{"ClusterTemplate", "templates", valid, invalid},
		{"ServiceTemplate", "templates", valid, invalid},
		{"Credential", "credentials", ready, notReady},
		{"AccessManagement", "access", []string{"{observedGeneration: 1}", "{observedGeneration: 1, error: ''}"},
			[]string{"{}", "{observedGeneration: 1, error: chain is not found}"}},
		{"ClusterTemplateChain", "access", valid, invalid},
		{"ServiceTemplateChain", "access", valid, invalid},
		{"ClusterTemplate", "access", valid, invalid},
		{"ServiceTemplate", "access", valid, invalid},
		{"Credential", "access", ready, notReady},
	} {
		platformtest.Healthy(t, r.Must("Kustomization", "k0rdent-"+kind.step), kind.name, kind.healthy, kind.progressing)
	}
	// What other namespaces are handed is there before clusters use it.
	access := r.Must("Kustomization", "k0rdent-access")
	waited := platformtest.Waited(access)
	for _, want := range []string{"AccessManagement /kcm", "ClusterTemplate team-red/aws-standalone-cp-1-0-42", "Credential team-red/aws", "ServiceTemplate team-red/ingress-nginx-4-13-2"} {
		if !slices.Contains(waited, want) {
			t.Errorf("k0rdent-access does not wait for %s but for %v", want, waited)
		}
	}
}
