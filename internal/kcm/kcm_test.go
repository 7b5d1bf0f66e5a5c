package kcm

import (
	"slices"
	"testing"
)

// What a chart needs some chart brings, and each infrastructure takes some identity.
func TestTablesAgree(t *testing.T) {
	for chart := range needs {
		providers, ok := Needs(chart)
		if !ok || len(Infrastructures(providers)) != 1 {
			t.Errorf("%s needs %v", chart, providers)
		}
		for _, p := range providers {
			if !BuiltIn(p) && len(Bringing([]string{p})) != 1 {
				t.Errorf("%s needs %s, which %v bring", chart, p, Bringing([]string{p}))
			}
		}
		for _, p := range Infrastructures(providers) {
			if !slices.Contains(Identities(p), "Secret") && p != "infrastructure-aws" {
				t.Errorf("%s takes %v", p, Identities(p))
			}
		}
	}
}

func TestKnown(t *testing.T) {
	if got, ok := Needs("azure-hosted-cp"); !ok || !slices.Equal(got, []string{"infrastructure-azure", "bootstrap-k0sproject-k0smotron", "control-plane-k0sproject-k0smotron"}) {
		t.Errorf("azure-hosted-cp needs %v", got)
	}
	if got, ok := Brings("projectsveltos"); !ok || len(got) > 0 {
		t.Errorf("projectsveltos brings %v, %v", got, ok)
	}
	if got := Charts(); len(got) != len(brings) || !slices.IsSorted(got) || !slices.Contains(got, Sveltos) {
		t.Errorf("the charts are %v", got)
	}
	for _, chart := range []string{"ingress-nginx", "aws"} {
		if _, ok := Needs(chart); ok {
			t.Errorf("%s is known", chart)
		}
	}
	for provider, want := range map[string]bool{"infrastructure-aws": true, "infrastructure-k0sproject-k0smotron": false, "bootstrap-k0smotron": false} {
		if Cloud(provider) != want {
			t.Errorf("%s is of a cloud: %v", provider, !want)
		}
	}
}
