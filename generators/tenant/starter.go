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
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// chartMediaType is the layer of an OCI artifact that holds a Helm chart.
const chartMediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// starter writes the base folder: a small web server that runs in the first workload namespace, at any pod-security
// level.
func starter(out *emit.Files, spec *v1alpha1.Spec, t *v1alpha1.Tenant, dir string) {
	files := []string{"deployment.yaml", "service.yaml"}
	if t.Spec.Starter == v1alpha1.StarterPodinfo {
		files = []string{"helmrelease.yaml", "ocirepository.yaml"}
		starterRelease(out, spec, t, dir)
	} else {
		starterWorkload(out, t, dir)
	}
	out.YAML(path.Join(dir, "kustomization.yaml"), tree.Once, "", emit.Kustomization{
		APIVersion: kustypes.KustomizationVersion, Kind: kustypes.KustomizationKind, Resources: files,
	})
}

// starterWorkload writes plain objects, which need no source other than the tenant's own.
func starterWorkload(out *emit.Files, t *v1alpha1.Tenant, dir string) {
	type values = map[string]any
	labels := values{"app.kubernetes.io/name": starterName}
	meta := values{"name": starterName, "namespace": t.Spec.Namespaces[0], "labels": labels}
	out.YAML(path.Join(dir, "deployment.yaml"), tree.Once, "A small web server as a starting point: replace it.", values{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta,
		"spec": values{
			"replicas": 1,
			"selector": values{"matchLabels": labels},
			"template": values{
				"metadata": values{"labels": labels},
				"spec": values{
					"automountServiceAccountToken": false,
					"securityContext":              starterPod(),
					"containers": []any{values{
						"name":            starterName,
						"image":           starterImage + ":" + starterVersion,
						"env":             []any{values{"name": starterMessage, "value": starterGreeting}},
						"ports":           []any{values{"name": "http", "containerPort": starterPort}},
						"readinessProbe":  values{"httpGet": values{"path": "/readyz", "port": "http"}},
						"resources":       starterResources(),
						"securityContext": starterContainer(),
					}},
				},
			},
		},
	})
	out.YAML(path.Join(dir, "service.yaml"), tree.Once, "", values{
		"apiVersion": "v1", "kind": "Service", "metadata": meta,
		"spec": values{
			"selector": labels,
			"ports":    []any{values{"name": "http", "port": 80, "targetPort": "http"}},
		},
	})
}

// starterRelease writes a release of a chart, whose source must be in spec.allowedSources.
func starterRelease(out *emit.Files, spec *v1alpha1.Spec, t *v1alpha1.Tenant, dir string) {
	meta := metav1.ObjectMeta{Name: starterName, Namespace: t.Spec.Namespaces[0]}
	d := spec.Fleet.Spec.Defaults
	out.YAML(path.Join(dir, "ocirepository.yaml"), tree.Once, "", &sourcev1.OCIRepository{
		TypeMeta:   emit.TypeMeta(sourcev1.GroupVersion, sourcev1.OCIRepositoryKind),
		ObjectMeta: meta,
		Spec: sourcev1.OCIRepositorySpec{
			Interval:      emit.Duration(d.Interval),
			URL:           v1alpha1.StarterChart,
			Reference:     &sourcev1.OCIRepositoryRef{Tag: starterVersion},
			LayerSelector: &sourcev1.OCILayerSelector{MediaType: chartMediaType, Operation: sourcev1.OCILayerCopy},
		},
	})
	out.YAML(path.Join(dir, "helmrelease.yaml"), tree.Once,
		"A small web server as a starting point. It runs as the account that the platform created for\nthis tenant; the platform refuses all other accounts.",
		&helmv2.HelmRelease{
			TypeMeta:   emit.TypeMeta(helmv2.GroupVersion, helmv2.HelmReleaseKind),
			ObjectMeta: meta,
			Spec: helmv2.HelmReleaseSpec{
				ChartRef:           &helmv2.CrossNamespaceSourceReference{Kind: sourcev1.OCIRepositoryKind, Name: starterName},
				Interval:           emit.Duration(d.Interval),
				Timeout:            new(emit.Duration(d.Timeout)),
				DriftDetection:     addon.DriftDetection(d.DriftDetection),
				Install:            &helmv2.Install{Strategy: &helmv2.InstallStrategy{Name: "RetryOnFailure", RetryInterval: new(emit.Duration(d.RetryInterval))}},
				Upgrade:            &helmv2.Upgrade{Strategy: &helmv2.UpgradeStrategy{Name: "RetryOnFailure", RetryInterval: new(emit.Duration(d.RetryInterval))}},
				ServiceAccountName: helmAccount(t),
				Values: jsonValues(map[string]any{
					"replicaCount":       1,
					"ui":                 map[string]any{"message": starterGreeting},
					"podSecurityContext": starterPod(),
					"securityContext":    starterContainer(),
					"resources":          starterResources(),
				}),
			},
		})
}

// starterPod, starterContainer and starterResources return settings that fit the strictest pod security level
// and the default quota.
func starterPod() map[string]any {
	return map[string]any{
		"runAsNonRoot":   true,
		"runAsUser":      10001,
		"seccompProfile": map[string]any{"type": "RuntimeDefault"},
	}
}

func starterContainer() map[string]any {
	return map[string]any{
		"allowPrivilegeEscalation": false,
		"capabilities":             map[string]any{"drop": []any{"ALL"}},
		"readOnlyRootFilesystem":   true,
	}
}

func starterResources() map[string]any {
	return map[string]any{
		"requests": map[string]any{"cpu": "10m", "memory": "32Mi"},
		"limits":   map[string]any{"memory": "64Mi"},
	}
}

// starterPatch returns the patch of the starter in the folder of an environment.
func starterPatch(t *v1alpha1.Tenant, dir string) map[string]any {
	where := path.Base(dir)
	if where == "." {
		where = t.Metadata.Name
	}
	greeting := "Hello from " + where
	patch := map[string]any{"metadata": map[string]any{"name": starterName, "namespace": t.Spec.Namespaces[0]}}
	if t.Spec.Starter == v1alpha1.StarterPodinfo {
		patch["apiVersion"], patch["kind"] = helmv2.GroupVersion.String(), helmv2.HelmReleaseKind
		patch["spec"] = map[string]any{"values": map[string]any{"ui": map[string]any{"message": greeting}}}
		return patch
	}
	container := map[string]any{"name": starterName, "env": []any{map[string]any{"name": starterMessage, "value": greeting}}}
	patch["apiVersion"], patch["kind"] = "apps/v1", "Deployment"
	patch["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{container}}}}
	return patch
}

func jsonValues(v map[string]any) *apiextensionsv1.JSON {
	raw, err := json.Marshal(v)
	if err != nil { // the object contains only literals of this file
		panic(err)
	}
	return &apiextensionsv1.JSON{Raw: raw}
}
