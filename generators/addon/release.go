package addon

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/layout"
)

// isOCI says that a chart stands in an OCI registry.
func isOCI(c *v1alpha1.Chart) bool { return strings.HasPrefix(c.URL, "oci://") }

// SourceFile is the name of the file with a chart's source.
func SourceFile(a *v1alpha1.Addon) string {
	if isOCI(a.Spec.Chart) {
		return "ocirepository.yaml"
	}
	return "helmrepository.yaml"
}

// Source is the OCIRepository or HelmRepository that an add-on's chart is
// pulled from. It is named as the add-on and stands beside its HelmRelease.
func Source(spec *v1alpha1.Spec, a *v1alpha1.Addon, home layout.Home) any {
	chart := a.Spec.Chart
	objectMeta := metav1.ObjectMeta{Name: a.Metadata.Name, Namespace: home.Namespace}
	interval := emit.Duration(cmp.Or(a.Spec.Interval, spec.Fleet.Spec.Defaults.Interval))
	if !isOCI(chart) {
		return &sourcev1.HelmRepository{
			TypeMeta:   metav1.TypeMeta{APIVersion: sourcev1.GroupVersion.String(), Kind: sourcev1.HelmRepositoryKind},
			ObjectMeta: objectMeta,
			Spec:       sourcev1.HelmRepositorySpec{Interval: interval, URL: chart.URL, SecretRef: emit.SecretRef(chart.SecretRef)},
		}
	}
	return &sourcev1.OCIRepository{
		TypeMeta:   metav1.TypeMeta{APIVersion: sourcev1.GroupVersion.String(), Kind: sourcev1.OCIRepositoryKind},
		ObjectMeta: objectMeta,
		Spec: sourcev1.OCIRepositorySpec{
			Interval:      interval,
			URL:           chart.URL,
			Reference:     &sourcev1.OCIRepositoryRef{Tag: chart.Version},
			LayerSelector: emit.ChartLayer(),
			SecretRef:     emit.SecretRef(chart.SecretRef),
			Verify:        emit.Verification(chart.Verify),
		},
	}
}

// Release is the HelmRelease of an add-on.
//
// Away from its workloads' namespace it names target, release and storage, since
// Flux would otherwise install a second release beside a bootstrapped one. A
// bootstrapped release is exempt from substitution: the bootstrap reads the
// values as they stand.
func Release(spec *v1alpha1.Spec, a *v1alpha1.Addon, home layout.Home, dependsOn []string) *helmv2.HelmRelease {
	defaults := spec.Fleet.Spec.Defaults
	hr := &helmv2.HelmRelease{
		TypeMeta:   metav1.TypeMeta{APIVersion: helmv2.GroupVersion.String(), Kind: helmv2.HelmReleaseKind},
		ObjectMeta: metav1.ObjectMeta{Name: a.Metadata.Name, Namespace: home.Namespace},
		Spec: helmv2.HelmReleaseSpec{
			Interval: emit.Duration(cmp.Or(a.Spec.Interval, defaults.Interval)),
			Timeout:  new(emit.Duration(cmp.Or(a.Spec.Timeout, defaults.Timeout))),
			Install: &helmv2.Install{
				CRDs:     helmv2.CreateReplace,
				Strategy: &helmv2.InstallStrategy{Name: "RetryOnFailure", RetryInterval: new(emit.Duration(defaults.RetryInterval))},
			},
			Upgrade: &helmv2.Upgrade{
				CRDs:          helmv2.CreateReplace,
				CleanupOnFail: true,
				Strategy:      &helmv2.UpgradeStrategy{Name: "RetryOnFailure", RetryInterval: new(emit.Duration(defaults.RetryInterval))},
			},
			Values: values(a.Spec.Values),
		},
	}
	if a.Spec.Bootstrap != nil {
		hr.Annotations = map[string]string{emit.AnnotationSubstitute: emit.Disabled}
	}
	if *spec.Fleet.Spec.MultiTenancy.Lockdown {
		hr.Spec.ServiceAccountName = home.ServiceAccount
	}
	if a.Spec.ReleaseName != a.Metadata.Name || home.Namespace != a.Spec.Namespace {
		hr.Spec.ReleaseName = a.Spec.ReleaseName
	}
	if home.Namespace != a.Spec.Namespace {
		hr.Spec.TargetNamespace, hr.Spec.StorageNamespace = a.Spec.Namespace, a.Spec.Namespace
	}
	for _, name := range dependsOn {
		hr.Spec.DependsOn = append(hr.Spec.DependsOn, helmv2.DependencyReference{Name: name})
	}
	setChart(hr, a)
	return hr
}

func setChart(hr *helmv2.HelmRelease, a *v1alpha1.Addon) {
	chart := a.Spec.Chart
	if isOCI(chart) {
		hr.Spec.ChartRef = &helmv2.CrossNamespaceSourceReference{Kind: sourcev1.OCIRepositoryKind, Name: a.Metadata.Name}
		return
	}
	hr.Spec.Chart = &helmv2.HelmChartTemplate{Spec: helmv2.HelmChartTemplateSpec{
		Chart:     chart.Name,
		Version:   chart.Version,
		SourceRef: helmv2.CrossNamespaceObjectReference{Kind: sourcev1.HelmRepositoryKind, Name: a.Metadata.Name},
	}}
}

func values(v map[string]any) *apiextensionsv1.JSON {
	if len(v) == 0 {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil { // decoding has let only JSON's own types through
		panic(err)
	}
	return &apiextensionsv1.JSON{Raw: raw}
}

// manifestOf is a resource as it is applied: what a bootstrap hook applies too is
// exempt from substitution, as a release is.
func manifestOf(a *v1alpha1.Addon, r v1alpha1.ResourceFile, manifest map[string]any) any {
	if a.Spec.Bootstrap == nil || !hookApplies(a, r.Name) {
		return manifest
	}
	object := maps.Clone(manifest)
	metadata, _ := object["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	annotations, _ := metadata["annotations"].(map[string]any)
	annotations = maps.Clone(annotations)
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotations[emit.AnnotationSubstitute] = emit.Disabled
	metadata["annotations"] = annotations
	object["metadata"] = metadata
	return object
}

func hookApplies(a *v1alpha1.Addon, resource string) bool {
	for _, h := range a.Spec.Bootstrap.Hooks {
		if h.Apply == resource {
			return true
		}
	}
	return false
}
