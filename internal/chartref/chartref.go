// Package chartref reads the requests of HelmReleases, Kustomizations and bootstraps for charts and sources on the network. The
// command fetch downloads them, the lock names them, and a rendering looks them up.
//
// The source of the facts is source-controller 1.9.
package chartref

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// Scheme begins the address of an OCI registry.
const Scheme = "oci://"

// Ask is a request of a HelmRelease or bootstrap for a chart. Equal requests get the same chart.
type Ask struct {
	// URL is the address of an HTTP(S) chart repository, or oci:// and the repository of the chart, without a / at its end.
	URL string
	// Chart is the name of the chart in an HTTP(S) repository, "" in a registry.
	Chart string
	// Version is the version or range in the HelmRelease; "*" is the highest version.
	Version string
	// Tag, SemVer, SemVerFilter and Digest are spec.ref of an OCIRepository.
	Tag, SemVer, SemVerFilter, Digest string
	// MediaType selects the layer of an OCIRepository; "" is the first.
	MediaType string
	// Insecure says that the registry is reached over plain HTTP.
	Insecure bool
	// Helm says that Helm chooses the version, where source-controller may choose another one.
	Helm bool
}

// Name returns the name of the chart.
func (a Ask) Name() string { return cmp.Or(a.Chart, path.Base(a.URL)) }

// OCI reports whether the source is a registry.
func (a Ask) OCI() bool { return strings.HasPrefix(a.URL, Scheme) }

// Host returns the host of the source, with the port if the address has one.
func (a Ask) Host() string {
	address, err := url.Parse(a.URL)
	if err != nil {
		return ""
	}
	return strings.ToLower(address.Host)
}

// Wants returns the requested version in words.
func (a Ask) Wants() string {
	switch {
	case a.Digest != "":
		return "digest " + a.Digest
	case a.SemVer != "" && a.SemVerFilter != "":
		return fmt.Sprintf("semver %s of the tags that match %s", a.SemVer, a.SemVerFilter)
	case a.SemVer != "":
		return "semver " + a.SemVer
	case a.Tag != "":
		return "tag " + a.Tag
	}
	return "version " + a.Version
}

func (a Ask) String() string { return a.Name() + " from " + a.URL + ", " + a.Wants() }

// Compare orders requests by chart, address and version.
func Compare(a, b Ask) int {
	return cmp.Or(cmp.Compare(a.Name(), b.Name()), cmp.Compare(a.URL, b.URL), cmp.Compare(a.Wants(), b.Wants()),
		cmp.Compare(a.MediaType, b.MediaType), boolean(a.Insecure)-boolean(b.Insecure), boolean(a.Helm)-boolean(b.Helm))
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// FromHelmRepository returns the request of a HelmRelease for a chart of a HelmRepository. The error is the reason why it
// cannot be fetched.
func FromHelmRepository(repository map[string]any, chart, version string) (Ask, error) {
	address, err := check(text(repository, "spec", "url"))
	if err != nil {
		return Ask{}, err
	}
	if err := plain(chart, version); err != nil {
		return Ask{}, err
	}
	a := Ask{URL: address, Version: cmp.Or(strings.TrimSpace(version), "*")}
	ofOCI := text(repository, "spec", "type") == "oci"
	switch {
	case ofOCI != a.OCI():
		return Ask{}, fmt.Errorf("the type of the HelmRepository does not match its address %q", address)
	case ofOCI:
		a.URL += "/" + strings.Trim(chart, "/")
		a.Insecure, _ = field(repository, "spec", "insecure").(bool)
	default:
		a.Chart = chart
	}
	return a, nil
}

// FromOCIRepository returns the request of an OCIRepository. The error is the reason why it cannot be fetched.
func FromOCIRepository(repository map[string]any) (Ask, error) {
	address, err := check(text(repository, "spec", "url"))
	if err != nil {
		return Ask{}, err
	}
	a := Ask{URL: address, MediaType: text(repository, "spec", "layerSelector", "mediaType")}
	a.Insecure, _ = field(repository, "spec", "insecure").(bool)
	// Of several, source-controller uses the digest, then the range, then the tag.
	if a.Digest = text(repository, "spec", "ref", "digest"); a.Digest == "" {
		if a.SemVer = text(repository, "spec", "ref", "semver"); a.SemVer != "" {
			a.SemVerFilter = text(repository, "spec", "ref", "semverFilter")
		} else {
			a.Tag = cmp.Or(text(repository, "spec", "ref", "tag"), "latest")
		}
	}
	if !a.OCI() {
		return Ask{}, fmt.Errorf("the address %q does not begin with %s", address, Scheme)
	}
	return a, plain(a.Tag, a.SemVer, a.SemVerFilter, a.Digest, a.MediaType)
}

// check returns an address without a / at its end.
func check(address string) (string, error) {
	if err := plain(address); err != nil {
		return "", err
	}
	parsed, err := url.Parse(address)
	switch {
	case err != nil:
		return "", fmt.Errorf("the address is not valid")
	case parsed.User != nil:
		return "", fmt.Errorf("the address contains credentials; keep them in your Docker configuration or .netrc")
	case parsed.Scheme != "https" && parsed.Scheme != "http" && parsed.Scheme != "oci":
		return "", fmt.Errorf("the scheme %q is not http, https or oci", parsed.Scheme)
	case parsed.Host == "" || parsed.Opaque != "":
		return "", fmt.Errorf("the address is not valid")
	case parsed.RawQuery != "" || parsed.Fragment != "":
		return "", fmt.Errorf("the address has a query or a fragment")
	}
	return strings.TrimRight(address, "/"), nil
}

var variableName = regexp.MustCompile(`^[A-Za-z0-9_]*`)

// plain returns an error if a string contains an unsubstituted variable or a control character.
func plain(texts ...string) error {
	for _, t := range texts {
		// The string may contain a password, and so may the default of a variable.
		if _, variable, found := strings.Cut(t, "${"); found {
			return fmt.Errorf("the value of the variable ${%s} is not known", variableName.FindString(variable))
		}
		if strings.ContainsFunc(t, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return errors.New("it contains a control character")
		}
	}
	return nil
}

func field(of any, names ...string) any {
	for _, name := range names {
		fields, _ := of.(map[string]any)
		of = fields[name]
	}
	return of
}

func text(of any, names ...string) string {
	s, _ := field(of, names...).(string)
	return s
}
