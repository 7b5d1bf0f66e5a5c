package helmrelease

import (
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Packaged matches the file name of a packaged chart: its name and version.
var Packaged = regexp.MustCompile(`^(.+?)-(v?[0-9]+\.[0-9]+\.[0-9]+.*)\.tgz$`)

// ChartName returns the last element of a chart's reference without a tag; for an archive, the name in
// its file name.
func ChartName(ref string) string {
	ref = strings.TrimSuffix(ref, "/")
	name := ref[strings.LastIndex(ref, "/")+1:]
	if m := Packaged.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	return name
}

// LastElement returns the part of a reference after its last slash.
func LastElement(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// SameVersion reports whether two versions are equal except for their spelling: a leading v, a
// digest after the tag, or an underscore instead of + in a tag.
func SameVersion(a, b string) bool {
	a, b = NormalVersion(a), NormalVersion(b)
	if a == b {
		return true
	}
	x, err1 := semver.StrictNewVersion(a)
	y, err2 := semver.StrictNewVersion(b)
	return err1 == nil && err2 == nil && x.Equal(y) && x.Metadata() == y.Metadata()
}

// NormalVersion returns a version without a leading v and without a digest, with + for _.
func NormalVersion(v string) string {
	v, _, _ = strings.Cut(v, "@")
	if len(v) > 1 && (v[0] == 'v' || v[0] == 'V') && v[1] >= '0' && v[1] <= '9' {
		v = v[1:]
	}
	return strings.ReplaceAll(v, "_", "+")
}

// IsRange reports whether Helm treats a chart's version as a range of versions
// (https://helm.sh/docs/chart_best_practices/dependencies/#versions), such as 1.18.x or >=1.2.
func IsRange(version string) bool {
	if _, err := semver.StrictNewVersion(NormalVersion(version)); err == nil {
		return false
	}
	_, err := semver.NewConstraint(version)
	return err == nil
}
