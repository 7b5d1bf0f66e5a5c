package kommander

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
)

// takeover is an AppDeployment that may install an application on the management cluster.
type takeover struct {
	*reconcile.Object
	application, version string
	// at is the path of the field with the version.
	at []any
	// unclear reports whether it is unknown if its selector selects the management cluster.
	unclear bool
}

// takeoverOf reads an AppDeployment. It returns false if the AppDeployment is not for the management cluster.
func takeoverOf(o *reconcile.Object) (takeover, bool) {
	t := takeover{Object: o, at: []any{"spec", "appRef", "name"}}
	name := o.Text(t.at...)
	t.application, t.version = platform.SplitApp(name)
	selected, sure := onHost(o.Field("spec", "clusterSelector"))
	if o.Namespace != v1alpha1.KommanderNamespace || o.Text("spec", "appRef", "kind") != clusterApp || t.version == "" || platform.Unknown(name) || sure && !selected {
		return t, false
	}
	t.unclear = !sure
	for i := range o.List("spec", "clusterConfigOverrides") {
		version := o.Text("spec", "clusterConfigOverrides", i, "appVersion")
		if selected, sure := onHost(o.Field("spec", "clusterConfigOverrides", i, "clusterSelector")); version != "" && selected && sure {
			t.version, t.at = version, []any{"spec", "clusterConfigOverrides", i, "appVersion"}
		}
	}
	return t, !platform.Unknown(t.version)
}

// onHost reports whether a selector selects the management cluster. sure is false if the selector has
// conditions on other labels than the cluster's name.
func onHost(selector any) (selected, sure bool) {
	keys := platform.Keys(selector)
	sure = len(keys) == 0 || len(keys) == 1 && keys[0] == clusterName
	return platform.Selects(selector, map[string]any{clusterName: hostCluster}), sure
}

// definitionOf returns the application and version of the definition that contains a file, "" if there is none.
func definitionOf(file string) (application, version string) {
	if parts := strings.Split(file, "/"); len(parts) > 3 && slices.Contains(platform.DefinitionFolders(), parts[0]) {
		return parts[1], parts[2]
	}
	return "", ""
}

// applied reports how Flux applies an object: always, or only once if it does not exist. Both are false for an
// object that Flux ignores.
func applied(o *reconcile.Object) (always, once bool) {
	const prefix = "kustomize.toolkit.fluxcd.io/"
	ssa := o.Text("metadata", "annotations", prefix+"ssa")
	if ssa == "Ignore" || o.Text("metadata", "annotations", prefix+"reconcile") == "disabled" {
		return false, false
	}
	return ssa != "IfNotPresent", ssa == "IfNotPresent"
}
