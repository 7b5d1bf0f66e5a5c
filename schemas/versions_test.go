package schemas

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestVersions(t *testing.T) {
	for of, want := range map[schema.GroupKind]string{
		{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"}: `
v1 served=true storage=true
v1beta2 served=false storage=false deprecated 2.2 removed 2.8 for kustomize.toolkit.fluxcd.io/v1, Kind=Kustomization
v1beta1 served=false storage=false deprecated 2.2 removed 2.7 for kustomize.toolkit.fluxcd.io/v1, Kind=Kustomization`,
		{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"}: `
v2 served=true storage=true
v2beta2 served=false storage=false deprecated 2.3 removed 2.8 for helm.toolkit.fluxcd.io/v2, Kind=HelmRelease
v2beta1 served=false storage=false deprecated 2.2 removed 2.7 for helm.toolkit.fluxcd.io/v2, Kind=HelmRelease`,
		{Group: "notification.toolkit.fluxcd.io", Kind: "Provider"}: `
v1beta3 served=true storage=true
v1beta2 served=false storage=false deprecated 2.2 removed 2.9 for notification.toolkit.fluxcd.io/v1beta3, Kind=Provider
v1beta1 served=false storage=false deprecated 2.2 removed 2.7 for notification.toolkit.fluxcd.io/v1beta3, Kind=Provider`,
		{Group: "image.toolkit.fluxcd.io", Kind: "ImageUpdateAutomation"}: `
v1 served=true storage=true
v1beta2 served=false storage=false deprecated 2.7 removed 2.9 for image.toolkit.fluxcd.io/v1, Kind=ImageUpdateAutomation
v1beta1 served=false storage=false deprecated 2.3 removed 2.7 for image.toolkit.fluxcd.io/v1, Kind=ImageUpdateAutomation`,
		{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: `
v2 served=true storage=false
v1 served=true storage=false
v2beta2 served=false storage=false deprecated 1.23 removed 1.26 for autoscaling/v2, Kind=HorizontalPodAutoscaler
v2beta1 served=false storage=false deprecated 1.22 removed 1.25 for autoscaling/v2, Kind=HorizontalPodAutoscaler`,
		{Group: "extensions", Kind: "Ingress"}: `
v1beta1 served=false storage=false deprecated 1.14 removed 1.22 for networking.k8s.io/v1, Kind=Ingress`,
		{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: `
v1 served=true storage=false
v1beta1 served=false storage=false deprecated 1.16 removed 1.22 for apiextensions.k8s.io/v1, Kind=CustomResourceDefinition`,
		{Kind: "ConfigMap"}:                             "\nv1 served=true storage=false",
		{Group: "example.com", Kind: "HorizontalThing"}: "",
	} {
		var got strings.Builder
		for _, v := range Versions(of) {
			fmt.Fprintf(&got, "\n%s served=%v storage=%v", v.Name, v.Served, v.Storage)
			if v.DeprecatedIn != "" {
				fmt.Fprintf(&got, " deprecated %s", v.DeprecatedIn)
			}
			if v.RemovedIn != "" {
				fmt.Fprintf(&got, " removed %s for %s", v.RemovedIn, v.Replacement)
			}
		}
		if got.String() != want {
			t.Errorf("%s:%s\nwant%s", of, got.String(), want)
		}
	}
}

// TestEveryKindHasAVersion and a version that isn't served has a known one to
// move to.
func TestEveryKindHasAVersion(t *testing.T) {
	for _, gvk := range Kinds() {
		v, ok := VersionOf(gvk)
		if !ok {
			t.Errorf("nothing is known of %s", gvk)
		}
		if !strings.HasSuffix(gvk.Group, ".fluxcd.io") {
			continue
		}
		if v.Served == v.Deprecated() {
			t.Errorf("%s: served is %v, deprecated %v", gvk, v.Served, v.Deprecated())
		}
		if !v.Served && !slices.Contains(Kinds(), v.Replacement) {
			t.Errorf("%s is replaced by %s, which has no schema", gvk, v.Replacement)
		}
	}
	if _, ok := VersionOf(gvk("kustomize.toolkit.fluxcd.io/v9", "Kustomization")); ok {
		t.Error("a version that doesn't exist is known")
	}
}
