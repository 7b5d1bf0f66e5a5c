package examples_test

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// The definition of the Flux of attached clusters is the Fleet's, complete, in Kommander's
// namespace, and syncs nothing by itself.
func TestFluxOfAttachedClusters(t *testing.T) {
	memory := filesys.MakeFsInMemory()
	for f := range render(t, load(t, "kommander"))[0].Tree.All() {
		if err := memory.WriteFile("/"+f.Path, f.Content); err != nil {
			t.Fatal(err)
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, "/services/kommander-flux/2.9.4")
	if err != nil {
		t.Fatal(err)
	}
	var deployments, bound []string
	for _, r := range built.Resources() {
		switch r.GetKind() {
		case "GitRepository", "Kustomization":
			t.Errorf("%s %s is applied to attached clusters", r.GetKind(), r.GetName())
		case "Namespace":
			if r.GetName() != v1alpha1.KommanderFluxNamespace {
				t.Errorf("Namespace %s", r.GetName())
			}
		case "Deployment":
			deployments = append(deployments, r.GetName())
		case "ClusterRoleBinding":
			var b rbacv1.ClusterRoleBinding
			if err := sigsyaml.Unmarshal([]byte(r.MustYaml()), &b); err != nil {
				t.Fatal(err)
			}
			for _, s := range b.Subjects {
				if s.Namespace == v1alpha1.KommanderFluxNamespace {
					bound = append(bound, s.Name)
				}
			}
		}
		if namespace := r.GetNamespace(); namespace != "" && namespace != v1alpha1.KommanderFluxNamespace {
			t.Errorf("%s %s is in namespace %s", r.GetKind(), r.GetName(), namespace)
		}
	}
	if len(deployments) != 4 {
		t.Errorf("controllers: %v", deployments)
	}
	for _, name := range deployments {
		if !slices.Contains(bound, name) {
			t.Errorf("the account of %s is bound to nothing", name)
		}
	}
}

// All kinds of Kommander's repository are known, and all that Flux applies of it is followed.
// Only the charts, and what Kommander creates from definitions, cannot be decided.
func TestKommanderIsDecided(t *testing.T) {
	report := validated(t, render(t, load(t, "kommander"))[0])
	for _, u := range report.Unresolved {
		if u.Rule != "flux-helm-failed" && !strings.Contains(u.Reason, "with which Kommander builds them") {
			t.Errorf("unresolved: %+v", u)
		}
	}
	if report.Summary.Kustomizations < 20 {
		t.Errorf("only %d Kustomizations are followed", report.Summary.Kustomizations)
	}
}
