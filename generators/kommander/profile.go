package kommander

import (
	"path"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// profile is how a release of Kommander lays out its definitions, as the tags of
// kommander-applications have it.
type profile struct {
	// folder of the definitions.
	folder string
	// beside says that the default values stand in a folder of their own, defaults;
	// otherwise they stand with the release in the folder helmrelease.
	beside bool
	// ownMetadata says that each version has a metadata.yaml; otherwise all versions
	// of an application share one.
	ownMetadata bool
	// defaults names the ConfigMap with the default values.
	defaults func(name, version string) string
	// chart names the OCIRepository of a chart.
	chart func(name string) string
	// named says that definitions are told their name and version as variables.
	named bool
	// certSecretRef is where a HelmRepository names its certificate authority;
	// otherwise secretRef is.
	certSecretRef bool
}

// profileOf is the profile of a version; one after the last that is known has that
// one's.
func profileOf(k *v1alpha1.KommanderSpec) profile {
	p := profile{
		folder: "services", beside: true,
		defaults:      func(name, version string) string { return name + "-" + version + "-d2iq-defaults" },
		chart:         func(name string) string { return name },
		certSecretRef: k.AtLeast(2, 8),
	}
	if k.AtLeast(2, 16) {
		p.folder, p.ownMetadata = "applications", true
		p.defaults = func(name, version string) string { return name + "-" + version + "-config-defaults" }
	}
	if k.AtLeast(2, 17) {
		p.beside, p.named = false, true
		p.defaults = func(string, string) string { return "${releaseName}-${appVersion}-config-defaults" }
		p.chart = func(string) string { return "${releaseName}-${appVersion}-chart" }
	}
	return p
}

// dir is the folder of a definition.
func (p profile) dir(name, version string) string { return path.Join(p.folder, name, version) }

// releaseDir is the folder of a definition's HelmRelease.
func (p profile) releaseDir(d *v1alpha1.KommanderDefinition) string {
	if p.beside {
		return p.dir(d.Name, d.Version)
	}
	return path.Join(p.dir(d.Name, d.Version), "helmrelease")
}

// applied are the folders of a definition that Kommander applies for it.
func (p profile) applied(name, version string) []string {
	dir := p.dir(name, version)
	if p.beside {
		return []string{dir, path.Join(dir, "defaults")}
	}
	return []string{dir}
}

// metadataFile is the file of a definition's metadata.
func (p profile) metadataFile(d v1alpha1.KommanderDefinition) string {
	if p.ownMetadata {
		return path.Join(p.dir(d.Name, d.Version), "metadata.yaml")
	}
	return path.Join(p.folder, d.Name, "metadata.yaml")
}
