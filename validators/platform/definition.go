package platform

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// DefinitionFolders returns the folders in which Kommander's repository has the definitions of applications,
// <folder>/<application>/<version>. The first one was used up to version 2.15, the second one since then.
func DefinitionFolders() []string { return []string{"services", "applications"} }

// version matches an application's name that ends in a version. The version begins with the first digit that
// follows a dash.
var version = regexp.MustCompile(`^(.+?)-(v?\d+(\..*)?)$`)

// SplitApp splits the name of an App or ClusterApp into the application and its version, "" if it has none.
func SplitApp(name string) (app, of string) {
	if m := version.FindStringSubmatch(name); m != nil {
		return m[1], m[2]
	}
	return name, ""
}

// Definitions is a set of folders with the definitions of applications.
type Definitions map[string]bool

// Deployed returns the definitions that AppDeployments reference and that a cluster gets, whether or not their
// folders exist. Kommander creates a Kustomization for each, with variables of its own; no Kustomization in Git
// builds them.
var Deployed = &rule.Analysis[Definitions]{Name: "definitions of deployed applications", RunPass: func(p *rule.Pass) Definitions {
	folders := Definitions{}
	add := func(name, version string) {
		for _, folder := range DefinitionFolders() {
			folders[path.Join(folder, name, version)] = true
		}
	}
	for _, c := range p.Fleet().Clusters {
		for _, o := range c.Objects() {
			if o.Group != schemas.KommanderAppsGroup || o.Kind != "AppDeployment" {
				continue
			}
			name, version := SplitApp(o.Text("spec", "appRef", "name"))
			add(name, version)
			for i := range o.List("spec", "clusterConfigOverrides") {
				add(name, o.Text("spec", "clusterConfigOverrides", i, "appVersion"))
			}
		}
	}
	return folders
}}

// Hold reports whether a file is in one of the folders, or below.
func (d Definitions) Hold(file string) bool {
	parts := strings.SplitN(file, "/", 4)
	return len(parts) == 4 && d[path.Join(parts[:3]...)]
}

// InCatalog reports whether a file is in any folder of definitions, if AppDeployments reference at least one
// definition. Like a catalog, such a repository holds more definitions than a cluster gets.
func (d Definitions) InCatalog(file string) bool {
	parts := strings.SplitN(file, "/", 4)
	return len(d) > 0 && len(parts) == 4 && slices.Contains(DefinitionFolders(), parts[0])
}
