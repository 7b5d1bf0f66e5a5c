package helmfile

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// Release is an evaluated release of a bootstrap: of a helmfile, of the helmCharts of a kustomization, or of a HelmChart
// of K3s.
type Release struct {
	finding.Place // the position of its name in the file that declares it
	// Definition is the kind of that file, in a word.
	Definition string
	Cluster    string
	Name       located.Text
	Namespace  located.Text
	Chart      located.Text
	Version    located.Text
	// source is the URL of the chart's repository, if it is declared apart from the chart: that of the repository in the
	// chart's "repository/" prefix.
	source located.Text
	// Folder is the folder of the repository with the chart, "" if the chart is not in one.
	Folder string
	// local says that the chart is a folder or file in the repository, or one that a command creates.
	local bool
	// devel and plainHTTP are the options that Helm gets for the download.
	devel, plainHTTP bool
	Needs            []located.Text
	// Hooks are the release's hooks that call kubectl.
	Hooks  []Hook
	labels map[string]string
	Values located.Layers
	// CRDsOnly says that the bootstrap installs only the chart's CustomResourceDefinitions.
	CRDsOnly bool
	// Skipped is the reason why the bootstrap doesn't install the release at all, with its position; nil if it does.
	Skipped *located.Text
	// installed is false if helmfile uninstalls the release instead, and enabled is false if its condition excludes it.
	installed, enabled bool
	// undecided says that it is not known whether helmfile installs the release.
	undecided bool
	// Patches are the fields by which the bootstrap changes the chart or its rendered objects, such as jsonPatches.
	Patches []located.Text
	// PostRenderer is the program that changes the rendered objects, "" if there is none.
	PostRenderer located.Text
	// Reads are the files from which its fields and values are read, and whether they exist.
	Reads map[string]bool
	// Refused is the reason why helmfile itself fails at the release, "" if it doesn't.
	Refused string
	// Refusals are the reasons why helmfile fails before it installs the release, with positions, in helmfile's order. The
	// release is judged all the same.
	Refusals []Refusal
	// Unreadable is the reason why the file cannot be evaluated, and this release is its placeholder; "" for other
	// releases.
	Unreadable string
	// Exceeded is the bound that the evaluation of such a file exceeds, nil if it exceeds none.
	Exceeded *bounds.Error
	// Stops says that helmfile certainly fails at such a file.
	Stops bool
	// partial are the unknowns that single values depend on.
	partial []located.Unknown
	// Assumptions are the values of environment variables with which a variant is evaluated. Variants are the release under
	// each; fields of the release itself are unknown where they differ.
	Assumptions *templates.Assumptions
	Variants    []*Release
}

// The kinds of files that declare a release.
const (
	InHelmfile      = "helmfile"
	InKustomization = "kustomization"
	InHelmChart     = "HelmChart"
)

// same reports whether two evaluations of a release have the same result.
func (r *Release) same(other *Release) bool {
	return r.Place == other.Place && r.Name.Value == other.Name.Value && r.Namespace.Value == other.Namespace.Value &&
		r.Chart.Value == other.Chart.Value && r.Version.Value == other.Version.Value &&
		fmt.Sprint(r.Values.Unknown) == fmt.Sprint(other.Values.Unknown) && (r.Skipped == nil) == (other.Skipped == nil) &&
		(r.Values.Value == nil) == (other.Values.Value == nil) &&
		(r.Values.Value == nil || located.Equal(r.Values.Value, other.Values.Value))
}

// Installed reports whether helmfile certainly installs more than the definitions of the release, and its name and
// namespace are known.
func (r *Release) Installed() bool {
	return r.Definition == InHelmfile && r.Unreadable == "" && r.Skipped == nil && !r.undecided && !r.CRDsOnly &&
		r.Name.Unknown == nil && r.Namespace.Unknown == nil && !slices.ContainsFunc(r.Variants, func(v *Release) bool { return v.Skipped != nil })
}

// ID returns the namespace and name of the release.
func (r *Release) ID() string { return r.Namespace.Value + "/" + r.Name.Value }
