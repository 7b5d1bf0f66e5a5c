package platform

import (
	"path"
	"regexp"
	"strings"

	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// DefinitionFolders are where Kommander's repository has the definitions of applications,
// <folder>/<application>/<version>: up to 2.15, and since then.
func DefinitionFolders() []string { return []string{"services", "applications"} }

// version is the end of an application's name: its first digit follows a dash.
var version = regexp.MustCompile(`^(.+?)-(v?\d+(\..*)?)$`)

// SplitApp splits the name of an App or ClusterApp from its version, "" where there is none.
func SplitApp(name string) (app, of string) {
	if m := version.FindStringSubmatch(name); m != nil {
		return m[1], m[2]
	}
	return name, ""
}

// Definitions are the folders of applications' definitions.
type Definitions map[string]bool

// Deployed are the definitions which AppDeployments name that a cluster gets, whether their folders
// are there or not. Kommander makes a Kustomization of each, with variables of its own: no
// Kustomization in Git builds them.
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

// Hold says whether a file stands in one of the folders, or below.
func (d Definitions) Hold(file string) bool {
	parts := strings.SplitN(file, "/", 4)
	return len(parts) == 4 && d[path.Join(parts[:3]...)]
}
