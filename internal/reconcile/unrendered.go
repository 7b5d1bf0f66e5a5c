package reconcile

import helmv2 "github.com/fluxcd/helm-controller/api/v2"

// Unrendered returns the CustomResourceDefinitions in the crds folders of a chart that is available but whose objects are
// unknown: they do not depend on values. They must not be changed.
func (release *Release) Unrendered() []map[string]any {
	if release.chart == nil || release.Cause() == nil || release.spec.Spec.KubeConfig != nil {
		return nil
	}
	if install := release.spec.Spec.Install; install != nil && (install.CRDs == helmv2.Skip || install.CRDs == "" && install.SkipCRDs) {
		return nil
	}
	return release.chart.Definitions()
}
