package tenant

import (
	"encoding/json"
	"path"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// chartMediaType is the layer of an OCI artifact that holds a Helm chart.
const chartMediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// starter writes the base folder: a release that runs in the first workload
// namespace, at any pod-security level.
func starter(out *emit.Files, spec *v1alpha1.Spec, t *v1alpha1.Tenant, dir string) {
	meta := metav1.ObjectMeta{Name: starterName, Namespace: t.Spec.Namespaces[0]}
	d := spec.Fleet.Spec.Defaults
	out.YAML(path.Join(dir, "ocirepository.yaml"), tree.Once, "", &sourcev1.OCIRepository{
		TypeMeta:   emit.TypeMeta(sourcev1.GroupVersion, sourcev1.OCIRepositoryKind),
		ObjectMeta: meta,
		Spec: sourcev1.OCIRepositorySpec{
			Interval:      emit.Duration(d.Interval),
			URL:           starterChart,
			Reference:     &sourcev1.OCIRepositoryRef{Tag: starterVersion},
			LayerSelector: &sourcev1.OCILayerSelector{MediaType: chartMediaType, Operation: sourcev1.OCILayerCopy},
		},
	})
	out.YAML(path.Join(dir, "helmrelease.yaml"), tree.Once,
		"A small web server to start from. It runs as the account that the platform made for\nthis tenant; the platform refuses any other.",
		&helmv2.HelmRelease{
			TypeMeta:   emit.TypeMeta(helmv2.GroupVersion, helmv2.HelmReleaseKind),
			ObjectMeta: meta,
			Spec: helmv2.HelmReleaseSpec{
				ChartRef:           &helmv2.CrossNamespaceSourceReference{Kind: sourcev1.OCIRepositoryKind, Name: starterName},
				Interval:           emit.Duration(d.Interval),
				Timeout:            new(emit.Duration(d.Timeout)),
				ServiceAccountName: helmAccount(t),
				Values:             jsonValues(starterValues()),
			},
		})
	out.YAML(path.Join(dir, "kustomization.yaml"), tree.Once, "", emit.Kustomization{
		APIVersion: kustypes.KustomizationVersion, Kind: kustypes.KustomizationKind,
		Resources: []string{"helmrelease.yaml", "ocirepository.yaml"},
	})
}

// starterValues fit the strictest pod-security level and the default quota.
func starterValues() map[string]any {
	return map[string]any{
		"replicaCount": 1,
		"ui":           map[string]any{"message": "Hello from Flux"},
		"podSecurityContext": map[string]any{
			"runAsNonRoot":   true,
			"runAsUser":      10001,
			"seccompProfile": map[string]any{"type": "RuntimeDefault"},
		},
		"securityContext": map[string]any{
			"allowPrivilegeEscalation": false,
			"capabilities":             map[string]any{"drop": []any{"ALL"}},
			"readOnlyRootFilesystem":   true,
		},
		"resources": map[string]any{
			"requests": map[string]any{"cpu": "10m", "memory": "32Mi"},
			"limits":   map[string]any{"memory": "64Mi"},
		},
	}
}

// valuesPatch changes values of the starter's release.
type valuesPatch struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   patchMeta      `json:"metadata"`
	Spec       valuesPatchSet `json:"spec"`
}

type valuesPatchSet struct {
	Values map[string]any `json:"values"`
}

// starterPatch is what an environment's folder changes in the starter.
func starterPatch(t *v1alpha1.Tenant, dir string) valuesPatch {
	where := path.Base(dir)
	if where == "." {
		where = t.Metadata.Name
	}
	return valuesPatch{
		APIVersion: helmv2.GroupVersion.String(), Kind: helmv2.HelmReleaseKind,
		Metadata: patchMeta{Name: starterName, Namespace: t.Spec.Namespaces[0]},
		Spec:     valuesPatchSet{Values: map[string]any{"ui": map[string]any{"message": "Hello from " + where}}},
	}
}

func jsonValues(v map[string]any) *apiextensionsv1.JSON {
	raw, err := json.Marshal(v)
	if err != nil { // it holds nothing but literals of this file
		panic(err)
	}
	return &apiextensionsv1.JSON{Raw: raw}
}
