package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/chartref"
)

// index is the index of a chart repository.
type index struct {
	Entries map[string]yaml.Node `yaml:"entries"`
}

// release is a version of a chart in an index.
type release struct {
	Version string    `yaml:"version"`
	URLs    []string  `yaml:"urls"`
	Digest  string    `yaml:"digest"`
	Created time.Time `yaml:"-"`
	When    yaml.Node `yaml:"created"`
}

// index downloads the index of a repository, once.
func (c *client) index(ctx context.Context, repository string) (*index, error) {
	return c.indexes.do(repository, func() (*index, error) {
		data, err := c.get(ctx, repository+"/index.yaml", mostIndex)
		if err != nil {
			return nil, err
		}
		read, err := bounds.Do(bounds.Unit{Kind: "index", Name: repository}, func() (*index, error) {
			read := &index{}
			return read, yaml.Unmarshal(data, read)
		})
		if err != nil {
			return nil, fmt.Errorf("the index of %s is not valid: %w", repository, err)
		}
		return read, nil
	})
}

// releases returns the versions of a chart.
func (i *index) releases(chart string) ([]release, error) {
	node, found := i.Entries[chart]
	if !found {
		return nil, fmt.Errorf("the index has no chart %q", chart)
	}
	var all []release
	if err := node.Decode(&all); err != nil {
		return nil, fmt.Errorf("the entry of %q in the index is not valid: %w", chart, err)
	}
	for n := range all {
		all[n].Created, _ = time.Parse(time.RFC3339, all[n].When.Value) // an invalid time comes first
	}
	return all, nil
}

// pick returns the version that source-controller chooses. Source: internal/helm/repository, getChartVersion.
func pick(all []release, version string) (release, error) {
	for _, r := range all {
		if r.Version == version {
			return r, nil
		}
	}
	constraint, err := semver.NewConstraint(version)
	if err != nil {
		return release{}, fmt.Errorf("the version %q is not a range: %w", version, err)
	}
	best, highest := -1, (*semver.Version)(nil)
	for n, r := range all {
		v := parseVersion(r.Version)
		if v == nil || !constraint.Check(v) {
			continue
		}
		if highest == nil || v.GreaterThan(highest) || v.Equal(highest) && r.Created.After(all[best].Created) {
			best, highest = n, v
		}
	}
	if best < 0 {
		return release{}, fmt.Errorf("no version matches %q", version)
	}
	return all[best], nil
}

// pickAsHelm returns the version that Helm chooses: unlike source-controller, Helm accepts versions such as 1.2, and of two
// equal versions it chooses the first in the index. Source: helm.sh/helm/v4 pkg/repo/v1, IndexFile.Get.
func pickAsHelm(all []release, version string) (release, error) {
	constraint, err := semver.NewConstraint(version)
	if err != nil {
		return release{}, fmt.Errorf("the version %q is not a range: %w", version, err)
	}
	best, highest := -1, (*semver.Version)(nil)
	for n, r := range all {
		if r.Version == version {
			return r, nil
		}
		v, err := semver.NewVersion(r.Version)
		if err == nil && constraint.Check(v) && (highest == nil || v.GreaterThan(highest)) {
			best, highest = n, v
		}
	}
	if best < 0 {
		return release{}, fmt.Errorf("no version matches %q", version)
	}
	return all[best], nil
}

// pickTag returns the tag that source-controller chooses. Source: internal/helm/repository, getLastMatchingVersionOrConstraint.
func pickTag(tags []string, version string) (string, error) {
	if slices.Contains(tags, version) {
		return version, nil
	}
	constraint, err := semver.NewConstraint(version)
	if err != nil {
		return "", fmt.Errorf("the version %q is not a range: %w", version, err)
	}
	var highest *semver.Version
	for _, tag := range tags {
		if v := parseVersion(tag); v != nil && constraint.Check(v) && (highest == nil || v.GreaterThan(highest)) {
			highest = v
		}
	}
	if highest == nil {
		return "", fmt.Errorf("no tag matches %q", version)
	}
	return highest.Original(), nil
}

// parseVersion parses a complete version; it returns nil if the string is not one. Source: github.com/fluxcd/pkg/version.
func parseVersion(text string) *semver.Version {
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(text, "v")); err != nil {
		return nil
	}
	v, err := semver.NewVersion(text)
	if err != nil {
		return nil
	}
	return v
}

var plainSum = regexp.MustCompile(`^(?:sha256:)?([0-9a-f]{64})$`)

// sum returns the digest of an archive in the index, "" if it has none.
func (r release) sum() string {
	if m := plainSum.FindStringSubmatch(strings.ToLower(r.Digest)); m != nil {
		return "sha256:" + m[1]
	}
	return ""
}

// address returns the address of the archive of a version. Source: helm.sh/helm/v4 pkg/repo, ResolveReferenceURL.
func (r release) address(repository string) (string, error) {
	if len(r.URLs) == 0 {
		return "", errors.New("the index has no address for this version")
	}
	to, err := url.Parse(r.URLs[0])
	if err != nil {
		return "", errors.New("the address in the index is not valid")
	}
	if to.IsAbs() {
		return to.String(), nil
	}
	from, err := url.Parse(repository)
	if err != nil {
		return "", err
	}
	from.RawPath, from.Path = "", path.Clean("/"+from.Path)+"/"
	return from.ResolveReference(to).String(), nil
}

// fromIndex resolves a request for a chart repository. version is the one in the lock, or "".
func (c *client) fromIndex(ctx context.Context, a chartref.Ask, version string, known func(digest string) []byte) (resolution, error) {
	i, err := c.index(ctx, a.URL)
	if err != nil {
		return resolution{}, err
	}
	all, err := i.releases(a.Chart)
	if err != nil {
		return resolution{}, err
	}
	if version == "" {
		version = a.Version
	}
	choose := pick
	if a.Helm {
		choose = pickAsHelm
	}
	r, err := choose(all, version)
	if err != nil {
		return resolution{}, err
	}
	if data := known(r.sum()); data != nil {
		return resolution{version: r.Version, archive: data}, nil
	}
	address, err := r.address(a.URL)
	if err != nil {
		return resolution{}, err
	}
	data, err := c.blobs.do(address, func() ([]byte, error) { return c.get(ctx, address, mostArchive) })
	if err != nil {
		return resolution{}, err
	}
	return resolution{version: r.Version, archive: data, announced: r.sum()}, nil
}
