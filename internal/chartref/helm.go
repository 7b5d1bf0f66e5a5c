package chartref

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// HelmRequest is a request of a bootstrap to Helm.
type HelmRequest struct {
	// Repository is the address of the chart repository, or oci:// and the folder of the chart in a registry. Chart is the
	// chart's name in it; in a registry it may end in a tag or a digest.
	Repository, Chart string
	// Version is a version or a range; "" is the highest.
	Version string
	// Devel says that Version "" includes pre-releases.
	Devel bool
	// Insecure says that the registry is reached over plain HTTP.
	Insecure bool
}

var ociDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// FromHelm returns the request that Helm sends to a repository. The error is the reason why the chart cannot be fetched.
//
// The source of the facts is Helm 4.2, pkg/downloader and pkg/registry, and helmfile 1.8.
func FromHelm(r HelmRequest) (Ask, error) {
	address, err := check(r.Repository)
	if err != nil {
		return Ask{}, err
	}
	if err := plain(r.Chart, r.Version); err != nil {
		return Ask{}, err
	}
	a := Ask{URL: address, Version: strings.TrimSpace(r.Version)}
	chart := strings.Trim(r.Chart, "/")
	if a.OCI() {
		a.Insecure = r.Insecure
		chart, a.Digest, _ = strings.Cut(chart, "@")
		tag := ""
		if at := strings.LastIndexByte(chart, ':'); at > strings.LastIndexByte(chart, '/') {
			chart, tag = chart[:at], chart[at+1:]
		}
		version, digest, _ := strings.Cut(a.Version, "@")
		a.Version, a.Digest = cmp.Or(version, tag), cmp.Or(a.Digest, digest)
	}
	switch {
	case chart == "" || path.Clean(chart) != chart || strings.HasPrefix(chart, ".."):
		return Ask{}, errors.New("the chart has no name")
	case a.Digest != "" && !ociDigest.MatchString(a.Digest):
		return Ask{}, fmt.Errorf("the digest %q is not valid", a.Digest)
	case a.OCI() && a.Version == "latest":
		return Ask{}, errors.New("the version of a chart in a registry cannot be latest; omit it for the highest version")
	}
	if a.OCI() {
		a.URL += "/" + chart
	} else {
		a.Chart = chart
	}
	switch {
	case a.Digest != "":
		a.Version, a.Helm = "", true
	case a.Version == "" && r.Devel:
		a.Version, a.Helm = ">0.0.0-0", true
	default:
		a.Version = cmp.Or(a.Version, "*")
		_, err := semver.StrictNewVersion(strings.TrimPrefix(a.Version, "v"))
		a.Helm = err != nil
	}
	return a, nil
}

// helmLayer is the media type of a chart that Helm pushed.
const helmLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// Same returns the requests by which an OCIRepository may get the same chart as this one, for one version in a registry.
func (a Ask) Same() []Ask {
	if !a.OCI() || a.Version == "" || a.Helm {
		return nil
	}
	tag := Ask{URL: a.URL, Tag: strings.ReplaceAll(a.Version, "+", "_"), Insecure: a.Insecure}
	layer := tag
	layer.MediaType = helmLayer
	return []Ask{tag, layer}
}
