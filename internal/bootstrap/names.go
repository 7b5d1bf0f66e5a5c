package bootstrap

import (
	"crypto/sha256"
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
)

// releaseName is the name that Helm knows a release by: helm-controller shortens a long one.
// Source: helm-controller 1.6, internal/release, ShortenName.
func releaseName(r *helmv2.HelmRelease) string {
	const longest, hash = 53, 12
	name := r.GetReleaseName()
	if len(name) <= longest {
		return name
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	return name[:longest-hash-1] + "-" + sum[:hash]
}
