// Package fluxapi names the API groups and kinds of Flux and of the Flux Operator.
package fluxapi

// The API groups of Flux and of the Flux Operator.
const (
	KustomizeGroup    = "kustomize.toolkit.fluxcd.io"
	HelmGroup         = "helm.toolkit.fluxcd.io"
	SourceGroup       = "source.toolkit.fluxcd.io"
	NotificationGroup = "notification.toolkit.fluxcd.io"
	ImageGroup        = "image.toolkit.fluxcd.io"
	ArtifactGroup     = "source.extensions.fluxcd.io"
	OperatorGroup     = "fluxcd.controlplane.io"
)
