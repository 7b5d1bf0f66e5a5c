package kommander

import (
	"path"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/generators/step"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// management is the GitRepository of Kommander's own Kustomizations.
const management = "management"

// configuration is the bootstrap repository, and Flux's configuration that lets
// Kommander use it.
func (g *generator) configuration() {
	apps := path.Join(host, "apps")
	g.out.Objects(path.Join(apps, "kommander.yaml"), "", appsKommander())
	g.out.Kustomization(apps, emit.Kustomization{Resources: []string{"kommander.yaml"}})
	g.out.YAML(path.Join(apps, "kommander/kustomization.yaml"), tree.Once,
		"This file is Kommander's: its controllers list what they write beside it.", hostApplications{
			kustypes.KustomizationVersion, kustypes.KustomizationKind, []string{kustypes.OriginAnnotations},
		})
	g.out.Kustomization(host, emit.Kustomization{Resources: []string{"apps", "common"}})
	// It is ready only with the GitRepository of the next step, which waits for it.
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepRepository, Lists: []string{apps},
		After: []string{v1alpha1.KommanderStepBase, v1alpha1.KommanderStepHelmRepositories, v1alpha1.KommanderStepIngress, v1alpha1.KommanderStepGitea},
	})
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepFlux, After: []string{v1alpha1.KommanderStepRepository},
		Unit: layout.Unit{HealthChecks: []meta.NamespacedObjectKindReference{
			{APIVersion: sourcev1.GroupVersion.String(), Kind: sourcev1.GitRepositoryKind, Name: management, Namespace: fluxNamespace},
			{APIVersion: kustomizev1.GroupVersion.String(), Kind: kustomizev1.KustomizationKind, Name: v1alpha1.AppsKommander, Namespace: namespace},
		}},
		Files: map[string][]any{
			"kommander-vars.yaml": {g.variables(namespace)},
			"management.yaml":     {g.managementRepository()},
		},
		Comments: map[string]string{"management.yaml": "It needs the Secret " + fluxNamespace + "/" + v1alpha1.KommanderGitSecret + " with username and password, and caFile where\n" +
			"the server's certificate is the cluster's own, encrypted in Git (" + v1alpha1.KommanderGitFile + ")\nor made otherwise."},
		Lists: g.gitCredentials(),
	})
}

// gitCredentials is the folder of the encrypted credentials, where they are there.
func (g *generator) gitCredentials() []string {
	var names []string
	dir := path.Dir(v1alpha1.KommanderGitFile)
	for _, s := range g.secrets {
		if s.File == v1alpha1.KommanderGitFile {
			names = append(names, path.Base(s.File))
		}
	}
	if names == nil {
		return nil
	}
	g.out.Kustomization(dir, emit.Kustomization{Resources: names})
	return []string{dir}
}

// hostApplications is the kustomization of what Kommander's controllers write: one
// without resources must hold something.
type hostApplications struct {
	APIVersion    string   `json:"apiVersion"`
	Kind          string   `json:"kind"`
	BuildMetadata []string `json:"buildMetadata"`
}

// appsKommander is the Kustomization of the management cluster's applications, as
// Kommander's installer makes it.
func appsKommander() any {
	return &kustomizev1.Kustomization{
		TypeMeta:   emit.TypeMeta(kustomizev1.GroupVersion, kustomizev1.KustomizationKind),
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.AppsKommander, Namespace: namespace},
		Spec: kustomizev1.KustomizationSpec{
			Path:          "./" + path.Join(host, "apps/kommander"),
			Interval:      emit.Duration("6h"),
			RetryInterval: new(emit.Duration("1m")),
			Timeout:       new(emit.Duration("1m")),
			Prune:         true,
			Wait:          true,
			PostBuild:     &kustomizev1.PostBuild{Substitute: map[string]string{"releaseNamespace": namespace, "workspaceNamespace": namespace}},
			SourceRef:     kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.GitRepositoryKind, Name: management, Namespace: fluxNamespace},
		},
	}
}

func (g *generator) managementRepository() any {
	m := g.k.Management
	return gitRepository(metadata{Name: management, Namespace: fluxNamespace}, m.URL,
		sourcev1.GitRepositoryRef{Branch: m.Branch}, m.Interval, &v1alpha1.SecretRef{Name: v1alpha1.KommanderGitSecret})
}

func gitRepository(m metadata, url string, ref sourcev1.GitRepositoryRef, interval v1alpha1.Duration, secret *v1alpha1.SecretRef) any {
	return &sourcev1.GitRepository{
		TypeMeta:   emit.TypeMeta(sourcev1.GroupVersion, sourcev1.GitRepositoryKind),
		ObjectMeta: metav1.ObjectMeta{Name: m.Name, Namespace: m.Namespace, Labels: m.Labels},
		Spec: sourcev1.GitRepositorySpec{
			URL: url, Reference: &ref, Interval: emit.Duration(interval), SecretRef: emit.SecretRef(secret),
		},
	}
}

// gatekeeper are the steps of Gatekeeper, of its template and of its constraints,
// whose kind the template defines.
func (g *generator) gatekeeper() {
	d := g.k.Definition(v1alpha1.KommanderGatekeeperApp, g.k.Gatekeeper.Version)
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepGatekeeper, After: []string{v1alpha1.KommanderStepFlux}, Unit: layout.Unit{Wait: true},
		Lists: g.profile.applied(d.Name, d.Version), PostBuild: g.postBuild(d),
	})
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepTemplates, After: []string{v1alpha1.KommanderStepGatekeeper},
		Unit: layout.Unit{Wait: true, HealthCheckExprs: []kustomize.CustomHealthCheck{{
			APIVersion: templates, Kind: "ConstraintTemplate",
			HealthCheckExpressions: kustomize.HealthCheckExpressions{Current: "has(status.created) && status.created"},
		}}},
		Files: map[string][]any{"requiredserviceaccountname.yaml": {constraintTemplate()}},
	})
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepConstraints, After: []string{v1alpha1.KommanderStepTemplates}, Unit: layout.Unit{Wait: true},
		Files: map[string][]any{
			"helmreleases.yaml":   {constraint(fluxapi.HelmGroup, "HelmRelease", "helmrelease-must-have-sa")},
			"kustomizations.yaml": {constraint(fluxapi.KustomizeGroup, "Kustomization", "kustomization-must-have-sa")},
		},
	})
}

const constraintKind = "RequiredServiceAccountName"

// constraintTemplate defines the constraint. Its name is the kind's in lower case, as
// Gatekeeper wants it.
func constraintTemplate() any {
	const rego = `package requiredserviceaccountname

violation[{"msg": msg}] {
  object.get(input.review.object.spec, "serviceAccountName", "") == ""
  msg := sprintf("%s %s has no serviceAccountName", [input.review.kind.kind, input.review.object.metadata.name])
}
`
	return newObject(templates, "ConstraintTemplate", metadata{Name: "requiredserviceaccountname"}, spec{
		"crd":     spec{"spec": spec{"names": spec{"kind": constraintKind}}},
		"targets": []any{spec{"target": "admission.k8s.gatekeeper.sh", "rego": rego}},
	})
}

// constraint wants a service account of a kind's objects in the namespaces of projects,
// where they would otherwise run as Flux itself.
func constraint(group, kind, n string) any {
	return newObject(constraints, constraintKind, metadata{Name: n}, spec{"match": spec{
		"kinds":             []any{spec{"apiGroups": []string{group}, "kinds": []string{kind}}},
		"namespaceSelector": spec{"matchLabels": spec{"kommander.d2iq.io/managed-by-kind": "Project"}},
	}})
}

// appManagement is the controller of AppDeployments, which belongs to an AppDeployment
// itself later.
func (g *generator) appManagement() {
	d := g.k.Definition(v1alpha1.KommanderAppManagementApp, g.k.AppManagement.Version)
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepAppManagement, After: []string{v1alpha1.KommanderStepConstraints}, Unit: layout.Unit{Wait: true},
		Lists: g.profile.applied(d.Name, d.Version), Annotations: takenOver(), PostBuild: g.postBuild(d),
	})
}
