package emit

import (
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// ChartLayer returns the selector for the layer of an OCI artifact that contains a Helm chart, as helm push
// creates it.
func ChartLayer() *sourcev1.OCILayerSelector {
	return &sourcev1.OCILayerSelector{
		MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Operation: sourcev1.OCILayerCopy,
	}
}

// TypeMeta returns the type of an object.
func TypeMeta(gv schema.GroupVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: gv.String(), Kind: kind}
}

// SecretRef converts a reference to a Secret to the type of Flux's API; nil stays nil.
func SecretRef(ref *v1alpha1.SecretRef) *meta.LocalObjectReference {
	if ref == nil {
		return nil
	}
	return &meta.LocalObjectReference{Name: ref.Name}
}

// Duration converts a duration, which the specification's validation has checked.
func Duration(d v1alpha1.Duration) metav1.Duration {
	parsed, _ := time.ParseDuration(string(d))
	return metav1.Duration{Duration: parsed}
}

// Verification converts a specification's verify to the type of the source API; nil stays nil.
func Verification(v *v1alpha1.Verify) *sourcev1.OCIRepositoryVerification {
	if v == nil {
		return nil
	}
	out := &sourcev1.OCIRepositoryVerification{Provider: v.Provider, SecretRef: SecretRef(v.SecretRef)}
	for _, id := range v.MatchOIDCIdentity {
		out.MatchOIDCIdentity = append(out.MatchOIDCIdentity, sourcev1.OIDCIdentityMatch{Issuer: id.Issuer, Subject: id.Subject})
	}
	return out
}
