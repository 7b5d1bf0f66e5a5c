package kommander

import (
	"path"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// profile describes how a release of Kommander lays out its definitions, by the tags of kommander-applications.
type profile struct {
	// folder is the folder of the definitions.
	folder string
	// ownDefaults reports whether the default values have their own folder, defaults. Otherwise they are next to the
	// release, in the folder helmrelease.
	ownDefaults bool
	// ownMetadata reports whether each version has its own metadata.yaml. Otherwise all versions of an
	// application share one.
	ownMetadata bool
	// defaults returns the name of the ConfigMap with the default values.
	defaults func(name, version string) string
	// chart returns the name of the OCIRepository of a chart.
	chart func(name string) string
	// named reports whether definitions get their name and version as variables.
	named bool
	// certSecretRef reports whether a HelmRepository names its certificate authority in certSecretRef.
	// Otherwise it does so in secretRef.
	certSecretRef bool
}

// profileOf returns the profile of a version. Versions after the last known one have the profile of that version.
func profileOf(k *v1alpha1.KommanderSpec) profile {
	p := profile{
		folder: "services", ownDefaults: true,
		defaults:      func(name, version string) string { return name + "-" + version + "-d2iq-defaults" },
		chart:         func(name string) string { return name },
		certSecretRef: k.AtLeast(2, 8),
	}
	if k.AtLeast(2, 16) {
		p.folder, p.ownMetadata = "applications", true
		p.defaults = func(name, version string) string { return name + "-" + version + "-config-defaults" }
	}
	if k.AtLeast(2, 17) {
		p.ownDefaults, p.named = false, true
		p.defaults = func(string, string) string { return "${releaseName}-${appVersion}-config-defaults" }
		p.chart = func(string) string { return "${releaseName}-${appVersion}-chart" }
	}
	return p
}

// dir returns the folder of a definition.
func (p profile) dir(name, version string) string { return path.Join(p.folder, name, version) }

// releaseDir returns the folder of a definition's HelmRelease.
func (p profile) releaseDir(d *v1alpha1.KommanderDefinition) string {
	if p.ownDefaults {
		return p.dir(d.Name, d.Version)
	}
	return path.Join(p.dir(d.Name, d.Version), "helmrelease")
}

// applied returns the folders of a definition that Kommander applies.
func (p profile) applied(name, version string) []string {
	dir := p.dir(name, version)
	if p.ownDefaults {
		return []string{dir, path.Join(dir, "defaults")}
	}
	return []string{dir}
}

// metadataFile returns the file of a definition's metadata.
func (p profile) metadataFile(d v1alpha1.KommanderDefinition) string {
	if p.ownMetadata {
		return path.Join(p.dir(d.Name, d.Version), "metadata.yaml")
	}
	return path.Join(p.folder, d.Name, "metadata.yaml")
}
