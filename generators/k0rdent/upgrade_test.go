package k0rdent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/examples/platformtest"
	"github.com/fleetwright/fleetwright/internal/specs"
)

// A new version of a cluster template: a new template beside the old ones, a
// longer chain under a new name, and the rules name that one. Then a cluster
// follows.
func TestUpgradeOfAClusterTemplate(t *testing.T) {
	added := []string{
		"      version: 1.0.43\n      # What", "      version: 1.0.43\n    - name: aws-standalone-cp\n      version: 1.0.44\n      # What",
		"versions: [1.0.42, 1.0.43]", "versions: [1.0.42, 1.0.43, 1.0.44]",
	}
	before, after := render(t, example(t)), render(t, example(t, added...))

	for _, name := range before.Names("ClusterTemplate") {
		same(t, before, after, "ClusterTemplate", name)
	}
	if after.One("ClusterTemplate", "aws-standalone-cp-1-0-44") == nil {
		t.Fatal("there is no new template")
	}
	old, extended := before.chain("ClusterTemplateChain", "aws-"), after.chain("ClusterTemplateChain", "aws-")
	if old == extended || !strings.HasPrefix(extended, "aws-1-0-44-") {
		t.Errorf("the chain was %s and is %s", old, extended)
	}
	if got := after.Must("AccessManagement", "kcm").List("spec", "accessRules", 0, "clusterTemplateChains"); !slices.Equal(got, []string{extended}) {
		t.Errorf("the rules name %v, want %s", got, extended)
	}
	chain := after.Must("ClusterTemplateChain", extended)
	if chain.Text("spec", "supportedTemplates", 1, "availableUpgrades", 0, "name") != "aws-standalone-cp-1-0-44" {
		t.Errorf("the chain has no way to the new version: %v", chain.Get("spec"))
	}
	// The chain that goes is pruned by the step that has named the new one before:
	// Flux applies first.
	if after.step("ClusterTemplateChain", extended) != after.step("AccessManagement", "kcm") {
		t.Error("the old chain goes before the rules name the new one")
	}
	// Nothing else of the repository changes, and no cluster.
	for _, path := range changed(before, after) {
		if !strings.HasPrefix(path, "k0rdent/access/") && !strings.HasPrefix(path, "k0rdent/templates/") && path != "clusters/management/k0rdent.yaml" {
			t.Errorf("%s changed", path)
		}
	}

	follows := append(slices.Clone(added), "name: aws-standalone-cp\n        version: 1.0.42", "name: aws-standalone-cp\n        version: 1.0.43")
	moved := render(t, example(t, follows...))
	if got := moved.Must("ClusterDeployment", "red-production").Text("spec", "template"); got != "aws-standalone-cp-1-0-43" {
		t.Errorf("the cluster has %s", got)
	}
	same(t, after, moved, "ClusterTemplateChain", extended)
	want := []string{"clusters/management/k0rdent.yaml", "k0rdent/clusters/team-red/red-production.yaml"}
	if got := changed(after, moved); !slices.Equal(got, want) {
		t.Errorf("changed: %v, want the cluster and what it waits for: %v", got, want)
	}
}

// A version that a cluster or a chain uses cannot be taken out; one that nothing
// uses can.
func TestOldVersionsStayUntilNothingUsesThem(t *testing.T) {
	without := "    - name: aws-standalone-cp\n      version: 1.0.42\n"
	spec := func(changes ...string) error {
		_, err := specs.Load(platformtest.Files(t, "k0rdent", changes...))
		return err
	}
	if err := spec(without, ""); err == nil || !strings.Contains(err.Error(), `version "1.0.42" of the cluster template "aws-standalone-cp" does not exist`) {
		t.Errorf("a version that is used was taken out: %v", err)
	}
	if err := spec(without, "", "versions: [1.0.42, 1.0.43]", "versions: [1.0.43]", "name: aws-standalone-cp\n        version: 1.0.42", "name: aws-standalone-cp\n        version: 1.0.43"); err != nil {
		t.Errorf("a version that nothing uses cannot be taken out: %v", err)
	}
}

// The name of a chain says what it holds: the same paths in another order or
// form give the same chain, and any other content another one.
func TestChainsAreNamedByTheirContent(t *testing.T) {
	name := func(paths string) string {
		return render(t, example(t, "versions: [1.0.42, 1.0.43]", paths)).chain("ClusterTemplateChain", "aws-")
	}
	base := name("versions: [1.0.42, 1.0.43]")
	same := name("versions: [1.0.43]\n        - template: aws-standalone-cp\n          versions: [1.0.42, 1.0.43]")
	other := name("versions: [1.0.42]\n        - template: aws-standalone-cp\n          versions: [1.0.43]")
	if base != same || base == other {
		t.Errorf("%s, the same in two paths %s, without the upgrade %s", base, same, other)
	}
}

// A new version of k0rdent is a new Release with templates of its own, and the
// Management moves to it.
func TestUpgradeOfK0rdent(t *testing.T) {
	r := render(t, example(t, "version: 1.11.4", "version: 1.11.5"))
	if got := r.Must("Management", "kcm").Text("spec", "release"); got != "kcm-1-11-5" || r.One("ProviderTemplate", "kcm-1-11-5") == nil {
		t.Errorf("the Management has release %s", got)
	}
	// The Release that it leaves stays on the cluster until then: nothing of it
	// is pruned, and kcm refuses to delete it while it is in use.
	if !r.Must("Release", "kcm-1-11-5").Annotated(prune, "disabled") {
		t.Error("the Release can be pruned")
	}
	if got := r.Must("OCIRepository", "kcm").Text("spec", "ref", "tag"); got != "1.11.5" {
		t.Errorf("a new cluster gets kcm %s", got)
	}
}

// In layout apps the steps stand elsewhere and are the same.
func TestLayoutApps(t *testing.T) {
	r := render(t, example(t, "layout: fleet", "layout: apps"))
	for _, path := range []string{"kubernetes/flux/cluster/k0rdent.yaml", "kubernetes/k0rdent/kcm/helmrelease.yaml", "kubernetes/k0rdent/access/accessmanagement.yaml"} {
		if _, there := r.Tree.Get(path); !there {
			t.Errorf("there is no %s", path)
		}
	}
	if got := r.Must("Kustomization", "k0rdent-kcm"); got.Text("spec", "path") != "./kubernetes/k0rdent/kcm" || got.Text("spec", "dependsOn", 0, "name") != "cluster-apps" {
		t.Errorf("k0rdent-kcm: %v", got.Get("spec"))
	}
	helmfile, _ := r.Tree.Get("bootstrap/helmfile.yaml")
	if !strings.Contains(string(helmfile.Content), "helmrelease: kubernetes/k0rdent/kcm/helmrelease.yaml") {
		t.Errorf("the bootstrap reads kcm's values elsewhere:\n%s", helmfile.Content)
	}
}

// The last service that is taken out is deleted, since its step stays and prunes.
func TestLastServiceRemoved(t *testing.T) {
	spec := example(t)
	v1alpha1.ProductOf[*v1alpha1.K0rdent](spec).Spec.MultiClusterServices = nil
	r := render(t, spec)
	k := r.Must("Kustomization", "k0rdent-services")
	folder := strings.TrimPrefix(k.Text("spec", "path"), "./")
	if list := r.Files[folder+"/kustomization.yaml"]; len(list) != 1 || len(list[0].List("resources")) > 0 || k.Get("spec", "prune") != true {
		t.Errorf("%s lists %v, and prunes: %v", folder, list, k.Get("spec", "prune"))
	}
	if len(r.Of("MultiClusterService")) > 0 {
		t.Error("there are services")
	}
	// kustomize refuses a kustomization without any field.
	if written, _ := r.Tree.Get(folder + "/kustomization.yaml"); !strings.Contains(string(written.Content), "\nresources: []\n") {
		t.Errorf("kustomize finds nothing in\n%s", written.Content)
	}
}
