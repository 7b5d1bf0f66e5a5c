package rule

import (
	"regexp"
	"strconv"
)

// Kubernetes returns the version of Kubernetes that the clusters run, as the user passed it; "" if it is
// unknown.
func (p *Pass) Kubernetes() string { return p.shared.Kubernetes }

var kubernetesVersion = regexp.MustCompile(`^v?1\.(\d{1,3})(\.\d{1,4})?$`)

// KubernetesMinor returns the minor version of a version of Kubernetes 1, such as 1.34 or v1.34.2. It returns false if
// the string is not such a version.
func KubernetesMinor(version string) (int, bool) {
	match := kubernetesVersion.FindStringSubmatch(version)
	if match == nil {
		return 0, false
	}
	minor, err := strconv.Atoi(match[1])
	return minor, err == nil
}
