package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/fleetwright/fleetwright/internal/cache"
	"github.com/fleetwright/fleetwright/internal/chartref"
)

// chartLayers are the media types of a chart in an artifact that Helm pushed, the newest first.
var chartLayers = []string{"application/vnd.cncf.helm.chart.content.v1.tar+gzip", "application/tar+gzip"}

// fromRegistry resolves a request for a registry. version is the one in the lock, or "".
func (c *client) fromRegistry(ctx context.Context, a chartref.Ask, version string, known func(digest string) []byte) (resolution, error) {
	return c.fromRegistryUpTo(ctx, a, version, known, mostArchive)
}

// fromRegistryUpTo is fromRegistry with a maximum size of the archive, in bytes.
func (c *client) fromRegistryUpTo(ctx context.Context, a chartref.Ask, version string, known func(digest string) []byte, most int64) (resolution, error) {
	repo, err := c.repository(a)
	if err != nil {
		return resolution{}, err
	}
	live, alive, stop := c.watch(ctx)
	defer stop()
	reference, err := c.reference(live, repo, a, version)
	if err != nil {
		return resolution{}, stalled(live, err)
	}
	alive()
	var out resolution
	err = again(live, func() error {
		out, err = c.artifact(live, repo, a, reference, known, alive, most)
		return err
	})
	if a.Digest == "" {
		out.version = strings.ReplaceAll(reference, "_", "+")
		if a.SemVer != "" || a.Tag != "" {
			out.version = reference
		}
	}
	return out, stalled(live, err)
}

// verify checks the signature of an artifact. It returns the digest of the proof that it keeps in the cache, or the reason
// why the signature cannot be checked.
func (c *client) verify(ctx context.Context, a chartref.Ask, manifest string, keys []string, in *cache.Cache) (kept, unverified string, err error) {
	repo, err := c.repository(a)
	if err != nil {
		return "", "", err
	}
	live, alive, stop := c.watch(ctx)
	defer stop()
	kept, err = verified(live, repo, manifest, keys, in, alive)
	switch err = stalled(live, err); {
	case errors.Is(err, errBundle):
		return "", err.Error(), nil
	case err != nil:
		return "", "", fmt.Errorf("the signature is not verified: %w", err)
	}
	return kept, "", nil
}

// repository returns the repository in the registry of a request.
func (c *client) repository(a chartref.Ask) (*remote.Repository, error) {
	repo, err := remote.NewRepository(strings.TrimPrefix(a.URL, chartref.Scheme))
	if err != nil {
		return nil, errors.New("the address does not name a repository in a registry")
	}
	repo.Client, repo.PlainHTTP, repo.TagListMaxPages = c.registry, a.Insecure, mostTagPages
	return repo, nil
}

// reference returns the tag or digest that a request resolves to.
func (c *client) reference(ctx context.Context, repo *remote.Repository, a chartref.Ask, version string) (string, error) {
	switch {
	case a.Digest != "":
		return a.Digest, nil
	case version != "":
		return strings.ReplaceAll(version, "+", "_"), nil
	case a.Tag != "":
		return a.Tag, nil
	case a.SemVer == "" && (parseVersion(a.Version) != nil || a.Helm && isVersion(a.Version)):
		return strings.ReplaceAll(a.Version, "+", "_"), nil
	}
	tags, err := c.tags.do(a.URL, func() ([]string, error) {
		var all []string
		err := repo.Tags(ctx, "", func(page []string) error {
			all = append(all, page...)
			return nil
		})
		return all, err
	})
	if err != nil {
		return "", err
	}
	if a.SemVer != "" {
		return pickSemVer(tags, a.SemVer, a.SemVerFilter)
	}
	versions := make([]string, len(tags))
	for i, tag := range tags {
		versions[i] = strings.ReplaceAll(tag, "_", "+")
	}
	if a.Helm { // its ranges only match complete versions without a v
		versions = slices.DeleteFunc(versions, func(v string) bool { _, err := semver.StrictNewVersion(v); return err != nil })
	}
	picked, err := pickTag(versions, a.Version)
	return strings.ReplaceAll(picked, "+", "_"), err
}

// isVersion reports whether Helm reads a version as such, and not as a range.
func isVersion(version string) bool {
	_, err := semver.NewVersion(version)
	return err == nil
}

// pickSemVer returns the tag that source-controller chooses for spec.ref.semver. Source: OCIRepositoryReconciler,
// getTagBySemver.
func pickSemVer(tags []string, constraint, filter string) (string, error) {
	if _, err := semver.NewConstraint(constraint); err != nil {
		return "", fmt.Errorf("the range %q is not valid: %w", constraint, err)
	}
	matches, err := regexp.Compile(filter)
	if err != nil {
		return "", fmt.Errorf("the filter %q is not valid: %w", filter, err)
	}
	tags = slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return parseVersion(tag) == nil || !matches.MatchString(tag) })
	return pickTag(tags, constraint)
}

// artifact downloads the archive in an artifact.
func (c *client) artifact(ctx context.Context, repo *remote.Repository, a chartref.Ask, reference string, known func(digest string) []byte, alive func(), most int64) (resolution, error) {
	described, body, err := repo.FetchReference(ctx, reference)
	if err != nil {
		return resolution{}, err
	}
	text, err := readVerified(body, described, mostManifest, alive)
	if err != nil {
		return resolution{}, fmt.Errorf("the manifest: %w", err)
	}
	var manifest ocispec.Manifest
	if err := json.Unmarshal(text, &manifest); err != nil {
		return resolution{}, errors.New("the manifest is not valid")
	}
	layer, err := layerOf(manifest, a)
	if err != nil {
		return resolution{}, err
	}
	out := resolution{manifest: cache.Sum(text), announced: string(layer.Digest)}
	if out.archive = known(string(layer.Digest)); out.archive != nil {
		return out, nil
	}
	if layer.Size > most {
		return resolution{}, refused("the archive is larger than %d MB", most>>20)
	}
	out.archive, err = c.blobs.do(a.URL+"@"+string(layer.Digest), func() ([]byte, error) {
		body, err := repo.Blobs().Fetch(ctx, layer)
		if err != nil {
			return nil, err
		}
		return readVerified(body, layer, most, alive)
	})
	return out, err
}

// layerOf returns the layer that contains the chart.
func layerOf(manifest ocispec.Manifest, a chartref.Ask) (ocispec.Descriptor, error) {
	if len(manifest.Layers) == 0 {
		return ocispec.Descriptor{}, errors.New("the artifact has no layers")
	}
	wanted := []string{a.MediaType}
	switch {
	case a.Version != "" || a.Helm: // a HelmRepository or Helm
		wanted = chartLayers
	case a.MediaType == "":
		return manifest.Layers[0], nil
	}
	for _, mediaType := range wanted {
		for _, layer := range manifest.Layers {
			if layer.MediaType == mediaType {
				return layer, nil
			}
		}
	}
	return ocispec.Descriptor{}, fmt.Errorf("the artifact has no layer of type %s", wanted[0])
}
