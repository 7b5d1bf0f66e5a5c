package k0rdent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/kcm"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
)

// install is kcm's HelmRelease in Git. kcm creates some objects when it is installed: its own Release, a Management, and
// the templates of every Release (kcm v1.11.4 and v1.12.0-rc2, internal/controller/release_controller.go).
type install struct {
	of *reconcile.Object
	// version is the version of kcm, "" if it is not known exactly.
	version string
	// toggles holds the known values of the chart's section controller.
	toggles map[string]any
	// open is the reason why toggles that are not set inline are unknown. charts is the reason why kcm's charts are
	// unknown. Both are "" if they are known.
	open, charts string
}

// The toggles of kcm's chart, all of which are on by default.
const (
	createManagement = v1alpha1.K0rdentCreateManagement
	createRelease    = v1alpha1.K0rdentCreateRelease
	createTemplates  = v1alpha1.K0rdentCreateTemplates
)

// installOf reads the installation from kcm's HelmRelease.
func (w *managementCluster) installOf(o *reconcile.Object) *install {
	find := func(id reconcile.Identity) *reconcile.Object { return w.All[id] }
	i := &install{of: o, version: exact(o.ChartVersion(find)), toggles: map[string]any{}}
	controller, _ := o.Field("spec", "values", "controller").(map[string]any)
	if len(o.List("spec", "valuesFrom")) > 0 {
		if all, err := w.Values(o); err == nil {
			controller, _ = all["controller"].(map[string]any)
		} else {
			i.open = fmt.Sprintf("%s also reads values from other objects", o)
		}
	}
	for name, value := range controller {
		i.toggles[name] = value
	}
	chart := o.ChartName(find)
	from, _ := i.toggles["templatesRepoURL"].(string)
	switch {
	case chart != "kcm":
		i.version = ""
		i.charts = fmt.Sprintf("%s does not install the chart kcm", o)
	case from == "" && i.open != "":
		i.charts = i.open
	case from != "" && strings.TrimSuffix(from, "/") != v1alpha1.K0rdentCharts:
		i.charts = "kcm's charts are in " + from
	}
	return i
}

// exact returns a version without a leading v, "" for anything else, such as a range.
func exact(version string) string {
	version = strings.TrimPrefix(version, "v")
	if _, err := semver.StrictNewVersion(version); err != nil {
		return ""
	}
	return version
}

// off reports whether kcm's HelmRelease is in Git and disables a part of kcm.
func (w *managementCluster) off(toggle string) bool {
	return w.kcm != nil && w.kcm.toggles[toggle] == false
}

// on reports whether kcm's HelmRelease is in Git and enables a part of kcm. doubt is the reason if neither on nor off is
// known.
func (w *managementCluster) on(toggle string) (is bool, doubt string) {
	if w.kcm == nil {
		return false, "Git has no HelmRelease of kcm"
	}
	switch value, set := w.kcm.toggles[toggle]; {
	case set && value == true:
		return true, ""
	case set && value == false:
		return false, ""
	case set:
		return false, fmt.Sprintf("the value of controller.%s in %s is unknown", toggle, w.kcm.of)
	}
	return w.kcm.open == "", w.kcm.open
}

// createsRelease reports whether kcm creates the Release of its own version, or the reason why that is unknown. kcm
// creates it only together with the templates.
func (w *managementCluster) createsRelease() (is bool, doubt string) {
	release, open := w.on(createRelease)
	templates, other := w.on(createTemplates)
	if w.off(createRelease) || w.off(createTemplates) {
		return false, ""
	}
	return release && templates, cmp.Or(open, other)
}

// isTemplate reports whether kcm creates templates of a kind.
func isTemplate(kind string) bool { return kind == clusterTemplate || kind == providerTemplate }

// created reports whether kcm creates an object that is not in Git. doubt is the reason why kcm or a user may have
// created it.
func (w *managementCluster) created(r platform.Reference) (is bool, doubt string) {
	var known bool
	switch {
	case r.Kind == release:
		is, known, doubt = w.createsNamedRelease(r.Name)
	case isTemplate(r.Kind) && (r.Namespace == "" || r.Namespace == system):
		is, known, doubt = w.createsTemplate(r)
	case (r.Kind == clusterTemplate || r.Kind == serviceTemplate) && r.Namespace != system && !w.off(createTemplates) && !w.Holds(group, accessKind):
		doubt = "Git has no AccessManagement, which distributes templates to namespaces"
	}
	switch {
	case is || known || doubt != "":
		return is, doubt
	case !w.Holds(r.Group, r.Kind):
		return false, "Git has no " + r.Kind + " at all"
	}
	return false, w.templateChartDoubt(r)
}

// templateChartDoubt returns the reason why a chart may install a missing ServiceTemplate, "" if there is none. The
// charts of k0rdent's catalog (https://github.com/k0rdent/catalog) install only templates, whose names are unknown.
func (w *managementCluster) templateChartDoubt(r platform.Reference) string {
	if o := w.charts[r.Namespace]; o != nil && r.Kind == serviceTemplate {
		if chart := w.Chart(o); chart == "kgst" || strings.Contains(chart, "-service-template") {
			return "the chart of " + o.String() + " may install it"
		}
	}
	return ""
}

// createsNamedRelease reports whether kcm creates a Release. known reports whether kcm certainly does not create it,
// whatever else is in the cluster.
func (w *managementCluster) createsNamedRelease(name string) (is, known bool, doubt string) {
	creates, doubt := w.createsRelease()
	switch {
	case w.kcm == nil:
		return false, false, "kcm creates Releases itself, unless controller.createRelease is false in its HelmRelease"
	case !creates:
		return false, false, doubt
	case w.kcm.version == "":
		return false, false, fmt.Sprintf("the version that %s installs is unknown", w.kcm.of)
	}
	own := v1alpha1.K0rdentObjectName(v1alpha1.K0rdentKCM, w.kcm.version)
	if is = name == own; !is && w.earlier(name, v1alpha1.K0rdentKCM, w.kcm.version) {
		return false, false, "an earlier kcm may have created it"
	}
	return is, !is && versionedName(name, v1alpha1.K0rdentKCM) != nil, ""
}

// createsTemplate reports whether kcm creates a template in its namespace. known and doubt are as in createsNamedRelease.
func (w *managementCluster) createsTemplate(r platform.Reference) (is, known bool, doubt string) {
	creates, doubt := w.on(createTemplates)
	switch {
	case w.kcm == nil:
		return false, false, "kcm creates templates itself, unless controller.createTemplates is false in its HelmRelease"
	case !creates:
		return false, false, doubt
	case w.kcm.charts != "":
		return false, false, "kcm creates templates of its charts, and " + w.kcm.charts
	}
	of, doubt := w.templated()
	near := ""
	for _, release := range of {
		if slices.Contains(w.namesOf(release, r.Kind), r.Name) {
			return true, false, ""
		}
		near = cmp.Or(near, w.TypoOf(r.Name, w.namesOf(release, r.Kind)))
	}
	chart := chartOf(nil, r.Name)
	if doubt == "" && w.anyEarlier(of, r.Name, chart) {
		doubt = "an earlier kcm may have created it"
	}
	return false, doubt == "" && (near != "" || chart != "" && len(of) > 0 && of[0].ChartVersion(chart) != ""), doubt
}

// templated returns the releases whose templates kcm creates: its own release, and those of the Releases in Git. doubt is
// the reason why there may be more.
func (w *managementCluster) templated() (of []*kcm.Release, doubt string) {
	var versions []string
	creates, doubt := w.createsRelease()
	switch {
	case creates && w.kcm.version == "":
		doubt = fmt.Sprintf("the version that %s installs is unknown", w.kcm.of)
	case creates:
		versions = append(versions, w.kcm.version)
	}
	for _, o := range w.Of(release) {
		versions = append(versions, exact(o.Text("spec", "version")))
	}
	if len(versions) == 0 && doubt == "" {
		doubt = "Git has no Release for which kcm creates templates"
	}
	for _, version := range versions {
		if known := kcm.ReleaseOf(version); known != nil {
			of = append(of, known)
		} else if doubt == "" {
			doubt = fmt.Sprintf("the templates that kcm %s creates are unknown", cmp.Or(version, "of an unknown version"))
		}
	}
	return of, doubt
}

// namesOf returns the names of the templates that kcm creates for a release.
func (w *managementCluster) namesOf(of *kcm.Release, kind string) []string {
	charts := of.Clusters()
	if kind == providerTemplate {
		charts = append(of.Providers(), kcm.ClusterAPI, v1alpha1.K0rdentKCM, v1alpha1.K0rdentRegional)
	}
	names := make([]string, len(charts))
	for i, chart := range charts {
		names[i] = v1alpha1.K0rdentObjectName(chart, of.ChartVersion(chart))
	}
	return names
}

// anyEarlier reports whether a template belongs to an earlier version of a chart than one of the releases.
func (w *managementCluster) anyEarlier(of []*kcm.Release, name, chart string) bool {
	return slices.ContainsFunc(of, func(r *kcm.Release) bool {
		return r.ChartVersion(chart) != "" && w.earlier(name, chart, r.ChartVersion(chart))
	})
}

// earlier reports whether a name has a version before another version of the same chart or release.
func (w *managementCluster) earlier(name, of, version string) bool {
	v := versionedName(name, of)
	return v != nil && v.LessThan(semver.MustParse(version))
}

// versionedName returns the version at the end of the name of a chart's template or of a release, nil if there is none.
func versionedName(name, of string) *semver.Version {
	base, numbers := splitVersion(name)
	if base != of || len(numbers) != 3 {
		return nil
	}
	return semver.New(uint64(max(numbers[0], 0)), uint64(max(numbers[1], 0)), uint64(max(numbers[2], 0)), "", "")
}

// createdNames returns the names of the objects of a kind that kcm is known to create.
func (w *managementCluster) createdNames(kind string) []string {
	var names []string
	switch creates, _ := w.on(createTemplates); {
	case kind == release:
		if is, _ := w.createsRelease(); is && w.kcm.version != "" {
			names = append(names, v1alpha1.K0rdentObjectName(v1alpha1.K0rdentKCM, w.kcm.version))
		}
	case creates && w.kcm.charts == "" && isTemplate(kind):
		of, _ := w.templated()
		for _, release := range of {
			names = append(names, w.namesOf(release, kind)...)
		}
	}
	return names
}
