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

// management is the name of the GitRepository of Kommander's own Kustomizations.
const management = "management"

// configuration writes the files that Kommander expects in the management repository, and the Flux objects that
// let Kommander use it.
func (g *generator) configuration() {
	apps := path.Join(host, "apps")
	g.out.Objects(path.Join(apps, "kommander.yaml"), "", appsKommander())
	g.out.Kustomization(apps, emit.Kustomization{Resources: []string{"kommander.yaml"}})
	g.out.YAML(path.Join(apps, "kommander/kustomization.yaml"), tree.Once,
		"Kommander owns this file: its controllers list the files that they write beside it.", hostApplications{
			kustypes.KustomizationVersion, kustypes.KustomizationKind, []string{kustypes.OriginAnnotations},
		})
	g.out.Kustomization(host, emit.Kustomization{Resources: []string{"apps", "common"}})
	// No health check: this step becomes ready only with the GitRepository of the next step, which waits for this one.
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepRepository, Lists: []string{apps},
		After: []string{v1alpha1.KommanderStepBase, v1alpha1.KommanderStepHelmRepositories, v1alpha1.KommanderStepIngress, v1alpha1.KommanderStepGitea, v1alpha1.KommanderStepGitRepository},
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
			"the server's certificate is the cluster's own, encrypted in Git (" + v1alpha1.KommanderGitFile + ")\nor created in another way."},
		Lists: g.gitCredentials(),
	})
}

// gitCredentials writes the folder of the encrypted Git credentials and returns it, if their file exists.
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

// hostApplications is the kustomization to which Kommander's controllers add their files. kustomize rejects an
// empty kustomization, so it has a field besides resources.
type hostApplications struct {
	APIVersion    string   `json:"apiVersion"`
	Kind          string   `json:"kind"`
	BuildMetadata []string `json:"buildMetadata"`
}

// appsKommander returns the Kustomization of the management cluster's applications, as Kommander's installer
// creates it.
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

// gatekeeper writes three steps: Gatekeeper, its constraint template, and its constraints, whose kind the
// template defines.
func (g *generator) gatekeeper() {
	name, version := v1alpha1.KommanderGatekeeperApp, g.k.Gatekeeper.Version
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepGatekeeper, After: []string{v1alpha1.KommanderStepFlux}, Unit: layout.Unit{Wait: true},
		Lists: g.applied(name, version), Annotations: g.handover(name), PostBuild: g.postBuild(name, version),
	})
	// A copy of the published definition contains both, with these names.
	var annotations map[string]string
	if g.k.HasExisting(name, version) {
		annotations = g.handover(name)
	}
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepTemplates, Annotations: annotations, After: []string{v1alpha1.KommanderStepGatekeeper},
		Unit: layout.Unit{Wait: true, HealthCheckExprs: []kustomize.CustomHealthCheck{{
			APIVersion: templates, Kind: "ConstraintTemplate",
			HealthCheckExpressions: kustomize.HealthCheckExpressions{Current: "has(status.created) && status.created"},
		}}},
		Files: map[string][]any{"requiredserviceaccountname.yaml": {constraintTemplate()}},
	})
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepConstraints, Annotations: annotations, After: []string{v1alpha1.KommanderStepTemplates}, Unit: layout.Unit{Wait: true},
		Files: map[string][]any{
			"helmreleases.yaml":   {constraint(fluxapi.HelmGroup, "HelmRelease", "helmrelease-must-have-sa")},
			"kustomizations.yaml": {constraint(fluxapi.KustomizeGroup, "Kustomization", "kustomization-must-have-sa")},
		},
	})
}

const constraintKind = "RequiredServiceAccountName"

// constraintTemplate returns the template that defines the constraint. Its name is the kind in lower case, as
// Gatekeeper requires.
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

// constraint returns a constraint that requires a service account in the objects of a kind in the namespaces of
// projects. Without one, Flux would apply them with its own account.
func constraint(group, kind, n string) any {
	return newObject(constraints, constraintKind, metadata{Name: n}, spec{"match": spec{
		"kinds":             []any{spec{"apiGroups": []string{group}, "kinds": []string{kind}}},
		"namespaceSelector": spec{"matchLabels": spec{"kommander.d2iq.io/managed-by-kind": "Project"}},
	}})
}

// appManagement writes the step that installs the controller of AppDeployments. Later, an AppDeployment takes
// this controller over.
func (g *generator) appManagement() {
	name, version := v1alpha1.KommanderAppManagementApp, g.k.AppManagement.Version
	g.Add(step.Step{
		Name: v1alpha1.KommanderStepAppManagement, After: []string{v1alpha1.KommanderStepConstraints}, Unit: layout.Unit{Wait: true},
		Lists: g.applied(name, version), Annotations: takenOver(), PostBuild: g.postBuild(name, version),
	})
}
