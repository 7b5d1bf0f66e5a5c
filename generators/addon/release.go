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

// isOCI reports whether a chart is in an OCI registry.
func isOCI(c *v1alpha1.Chart) bool { return strings.HasPrefix(c.URL, "oci://") }

// SourceFile returns the name of the file with a chart's source.
func SourceFile(a *v1alpha1.Addon) string {
	if isOCI(a.Spec.Chart) {
		return "ocirepository.yaml"
	}
	return "helmrepository.yaml"
}

// Source returns the OCIRepository or HelmRepository of an add-on's chart. It has the add-on's name
// and is in the same namespace as its HelmRelease.
func Source(spec *v1alpha1.Spec, a *v1alpha1.Addon, home layout.Home) any {
	chart := a.Spec.Chart
	objectMeta := metav1.ObjectMeta{Name: a.Metadata.Name, Namespace: home.Namespace, Labels: spec.ShardLabels(a.Metadata)}
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

// Release returns the HelmRelease of an add-on.
//
// If it is not in the namespace of the workloads, it sets target namespace, release name and storage namespace.
// Otherwise Flux would install a second release next to the bootstrapped one. A bootstrapped release is exempt
// from substitution, because the bootstrap reads the values without substitution.
func Release(spec *v1alpha1.Spec, a *v1alpha1.Addon, home layout.Home, dependsOn []string) *helmv2.HelmRelease {
	defaults := spec.Fleet.Spec.Defaults
	hr := &helmv2.HelmRelease{
		TypeMeta:   metav1.TypeMeta{APIVersion: helmv2.GroupVersion.String(), Kind: helmv2.HelmReleaseKind},
		ObjectMeta: metav1.ObjectMeta{Name: a.Metadata.Name, Namespace: home.Namespace, Labels: spec.ShardLabels(a.Metadata)},
		Spec: helmv2.HelmReleaseSpec{
			Interval:       emit.Duration(cmp.Or(a.Spec.Interval, defaults.Interval)),
			Timeout:        new(emit.Duration(cmp.Or(a.Spec.Timeout, defaults.Timeout))),
			DriftDetection: DriftDetection(cmp.Or(a.Spec.DriftDetection, defaults.DriftDetection)),
			Install: action(helmv2.Install{
				CRDs:     helmv2.CreateReplace,
				Strategy: &helmv2.InstallStrategy{Name: "RetryOnFailure", RetryInterval: new(emit.Duration(defaults.RetryInterval))},
			}, defaults.Install, a.Spec.Install),
			Upgrade: action(helmv2.Upgrade{
				CRDs:          helmv2.CreateReplace,
				CleanupOnFail: true,
				Strategy:      &helmv2.UpgradeStrategy{Name: "RetryOnFailure", RetryInterval: new(emit.Duration(defaults.RetryInterval))},
			}, defaults.Upgrade, a.Spec.Upgrade),
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
	hr.Spec.DependsOn = dependencies(dependsOn)
	setChart(hr, a)
	return hr
}

// action returns the settings with which helm-controller installs or upgrades a release: the generated fields,
// overridden by the specification's. A remediation in the specification also removes the generated strategy.
func action[T any](generated T, own ...any) *T {
	fields := map[string]any{}
	decode(generated, &fields)
	for _, of := range own {
		more := map[string]any{}
		decode(of, &more)
		if more["remediation"] != nil {
			delete(fields, "strategy")
		}
		maps.Copy(fields, more)
	}
	out := new(T)
	decode(fields, out)
	return out
}

// DriftDetection returns the drift detection of a release; nil for none.
func DriftDetection(d *v1alpha1.DriftDetection) *helmv2.DriftDetection {
	if d == nil {
		return nil
	}
	out := &helmv2.DriftDetection{}
	decode(d, out)
	return out
}

// decode copies the fields of a value through JSON. It cannot fail, because the specification's checks reject
// unknown fields.
func decode(from, to any) {
	raw, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	if err != nil {
		panic(err)
	}
}

func dependencies(names []string) []helmv2.DependencyReference {
	var list []helmv2.DependencyReference
	for _, name := range names {
		list = append(list, helmv2.DependencyReference{Name: name})
	}
	return list
}

func setChart(hr *helmv2.HelmRelease, a *v1alpha1.Addon) {
	chart := a.Spec.Chart
	if isOCI(chart) {
		hr.Spec.ChartRef = &helmv2.CrossNamespaceSourceReference{Kind: sourcev1.OCIRepositoryKind, Name: a.Metadata.Name}
		return
	}
	hr.Spec.Chart = &helmv2.HelmChartTemplate{ObjectMeta: chartMeta(hr.Labels), Spec: helmv2.HelmChartTemplateSpec{
		Chart:     chart.Name,
		Version:   chart.Version,
		SourceRef: helmv2.CrossNamespaceObjectReference{Kind: sourcev1.HelmRepositoryKind, Name: a.Metadata.Name},
	}}
}

// chartMeta returns the labels of the HelmChart that helm-controller creates: those of its HelmRelease.
func chartMeta(labels map[string]string) *helmv2.HelmChartTemplateObjectMeta {
	if len(labels) == 0 {
		return nil
	}
	return &helmv2.HelmChartTemplateObjectMeta{Labels: labels}
}

func values(v map[string]any) *apiextensionsv1.JSON {
	if len(v) == 0 {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil { // the decoded values have only JSON's own types
		panic(err)
	}
	return &apiextensionsv1.JSON{Raw: raw}
}

// manifestOf returns a resource as it is applied. If a bootstrap hook also applies it, it is exempt from
// substitution, like a bootstrapped release.
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
