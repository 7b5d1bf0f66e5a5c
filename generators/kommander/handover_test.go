package kommander_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/examples/platformtest"
	"github.com/fleetwright/fleetwright/generators"
)

// deployed adds AppDeployments of what the installation applies.
var deployed = []string{"    - name: kubefed\n      version: 0.10.0\n    - name: kommander\n", "    - {name: gatekeeper, version: 3.10.0}\n    - {name: gitea, version: 6.0.1}\n    - name: kubefed\n      version: 0.10.0\n    - name: kommander\n"}

// Gatekeeper and Gitea belong to their AppDeployments once the steps have created them; the certificate and the
// administrator of Gitea stay the step's, so that a new password reaches the cluster.
func checkHandover(t *testing.T, r *rendered) {
	for step, objects := range map[string][]string{
		"gatekeeper": {"HelmRelease gatekeeper", "ConfigMap gatekeeper-3.10.0-d2iq-defaults"},
		"gitea":      {"HelmRelease gitea", "ConfigMap gitea-6.0.1-d2iq-defaults"},
	} {
		for _, o := range objects {
			kind, name, _ := strings.Cut(o, " ")
			if o := r.must(t, step, kind, name); !o.Annotated(platformtest.SSA, "IfNotPresent") || !o.Annotated(platformtest.Prune, "disabled") {
				t.Errorf("Kommander can't take %s %s over", kind, name)
			}
		}
		if got := r.must(t, "applications", "AppDeployment", step).Text("spec", "appRef", "name"); !strings.HasPrefix(got, step+"-") {
			t.Errorf("%s deploys %s", step, got)
		}
	}
	for kind, name := range map[string]string{"Certificate": "git-tls", "Secret": "gitea-admin-credentials"} {
		if r.must(t, "gitea", kind, name).Annotated(platformtest.SSA, "IfNotPresent") {
			t.Errorf("%s %s is applied once only", kind, name)
		}
	}
}

// Without AppDeployments the steps keep applying both.
func TestNoHandoverWithoutAppDeployments(t *testing.T) {
	r := render(t, example(t))
	for _, step := range []string{"gatekeeper", "gitea"} {
		for _, o := range r.steps["flux-system/kommander-"+step] {
			if o.Annotated(platformtest.SSA, "IfNotPresent") {
				t.Errorf("nothing upgrades %s %s", o.Text("kind"), o.Name())
			}
		}
	}
}

// ownCertificate replaces the one that a public authority issues.
var ownCertificate = []string{
	"    # A certificate of a public authority; without it, one of the cluster's own.\n    acme:\n      email: platform@nimbus.example\n",
	"    certificate:\n      keys: [{name: tls.crt, from: {file: ../tls.crt}}, {name: tls.key, from: {file: ../tls.key}}, {name: ca.crt, from: {file: ../ca.crt}}]\n",
}

// inGitea puts the management repository into the cluster's Gitea.
var inGitea = []string{"  management:\n    branch: main\n", "  management:\n    branch: main\n    url: https://gitea-http.kommander.svc/platform/kommander.git\n"}

func checkOwnCertificate(t *testing.T, r *rendered) {
	r.must(t, "ingress", "Secret", "kommander-ingress-tls")
	for _, kind := range []string{"Certificate", "ClusterIssuer"} {
		for _, o := range r.steps["flux-system/kommander-ingress"] {
			if o.Text("kind") == kind {
				t.Errorf("cert-manager issues %s", o.Name())
			}
		}
	}
	r.must(t, "cluster", "KommanderCluster", "host-cluster").Holds(t, "{ingress: {hostname: kommander.nimbus.example, certificateSecretRef: {name: kommander-ingress-tls}}}", "spec")
	for _, f := range generators.SecretFiles(r.spec) {
		if f.Secret.Name == "kommander-ingress-tls" && (f.Secret.Type != "kubernetes.io/tls" || !slices.Equal(f.Secret.DataKeys(), []string{"tls.crt", "tls.key", "ca.crt"})) {
			t.Errorf("the Secret is of type %s with %v", f.Secret.Type, f.Secret.DataKeys())
		}
	}
	// Gitea's administrator is the declared Secret, though the values say nothing of it.
	if got := r.must(t, "gitea", "ConfigMap", "gitea-6.0.1-d2iq-defaults").Text("data", "values.yaml"); !strings.Contains(got, "existingSecret: gitea-admin-credentials") {
		t.Errorf("values of Gitea: %s", got)
	}
	if !r.Before("gitea", "gitea-repository") || !r.Before("gitea-repository", "repository") || !r.Before("gitea-repository", "flux-configuration") {
		t.Error("the repository is not there before what waits for it")
	}
	if r.Must("Kustomization", "kommander-gitea-repository").Get("spec", "wait") != true {
		t.Error("nothing waits for the repository")
	}
}

// Where the management repository is not Gitea's, no Job creates one.
func TestRepositoryElsewhere(t *testing.T) {
	if r := render(t, example(t)); len(r.Of("Job")) > 0 {
		t.Errorf("jobs: %v", r.Names("Job"))
	}
}
