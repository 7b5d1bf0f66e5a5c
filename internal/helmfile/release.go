package helmfile

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// Release is a release of a bootstrap, evaluated: of a helmfile, of the
// helmCharts of a kustomization, or of a HelmChart of K3s.
type Release struct {
	finding.Place // of its name in the file that declares it
	// Definition is what declares it, in a word.
	Definition string
	Cluster    string
	Name       located.Text
	Namespace  located.Text
	Chart      located.Text
	Version    located.Text
	// source is the URL that the chart comes from, as far as it is said apart
	// from the chart: of the repository behind the chart's "repository/" prefix.
	source located.Text
	// local says that the chart is a folder or file in the repository, or one that a command makes.
	local bool
	// devel and plainHTTP are what Helm is told of the download.
	devel, plainHTTP bool
	Needs            []located.Text
	// Hooks are what the release's hooks do with kubectl.
	Hooks  []Hook
	labels map[string]string
	Values located.Layers
	// CRDsOnly says that the bootstrap installs nothing of the chart but its
	// custom resource definitions.
	CRDsOnly bool
	// Skipped says why the bootstrap doesn't install the release at all, and
	// where; nil if it does.
	Skipped *located.Text
	// installed is false where helmfile removes the release instead, and enabled
	// where its condition leaves it out.
	installed, enabled bool
	// undecided says that it is not known whether helmfile installs the release.
	undecided bool
	// Patches are the fields by which the bootstrap changes the chart or what it
	// renders, such as jsonPatches.
	Patches []located.Text
	// PostRenderer is the program that changes what the chart renders, "" for none.
	PostRenderer located.Text
	// Reads are the files that its fields and values are read from, and whether
	// they exist.
	Reads map[string]bool
	// Refused says why helmfile itself stops at the release, "" if it doesn't.
	Refused string
	// Refusals say why helmfile stops before it installs the release, and where, in
	// its order. The release is judged all the same.
	Refusals []Refusal
	// Unreadable says why nothing can be told of the file, whose only release this
	// stands for; "" where it can be read.
	Unreadable string
	// Exceeded is the bound that the evaluation of such a file exceeds; nil if it exceeds none.
	Exceeded *bounds.Error
	// Stops says of such a file that helmfile certainly stops there.
	Stops bool
	// partial says what single values depend on that cannot be computed.
	partial []located.Unknown
	// Assumptions are the values of environment variables that a variant is evaluated with, and Variants what the release is
	// with each: its own fields are unknown then where these differ.
	Assumptions *templates.Assumptions
	Variants    []*Release
}

// What declares a release.
const (
	InHelmfile      = "helmfile"
	InKustomization = "kustomization"
	InHelmChart     = "HelmChart"
)

// same says whether two evaluations of one release came to the same.
func (r *Release) same(other *Release) bool {
	return r.Place == other.Place && r.Name.Value == other.Name.Value && r.Namespace.Value == other.Namespace.Value &&
		r.Chart.Value == other.Chart.Value && r.Version.Value == other.Version.Value &&
		fmt.Sprint(r.Values.Unknown) == fmt.Sprint(other.Values.Unknown) && (r.Skipped == nil) == (other.Skipped == nil) &&
		(r.Values.Value == nil) == (other.Values.Value == nil) &&
		(r.Values.Value == nil || located.Equal(r.Values.Value, other.Values.Value))
}

// Installed says whether helmfile certainly installs more than the definitions of the release, and that its name and
// namespace are known.
func (r *Release) Installed() bool {
	return r.Definition == InHelmfile && r.Unreadable == "" && r.Skipped == nil && !r.undecided && !r.CRDsOnly &&
		r.Name.Unknown == nil && r.Namespace.Unknown == nil && !slices.ContainsFunc(r.Variants, func(v *Release) bool { return v.Skipped != nil })
}

// ID returns the namespace and name of the release.
func (r *Release) ID() string { return r.Namespace.Value + "/" + r.Name.Value }
