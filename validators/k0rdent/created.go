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

// install is kcm's HelmRelease in Git, and what kcm creates of its own when it is installed with it: its
// Release and a Management, and the templates of it and of every further Release (kcm v1.11.4 and
// v1.12.0-rc2, internal/controller/release_controller.go).
type install struct {
	of *reconcile.Object
	// version of kcm, "" where it isn't known exactly.
	version string
	// toggles are the values of controller that are known, of those that are set.
	toggles map[string]any
	// open says why toggles that are not set inline aren't known, charts why it isn't known what kcm's
	// charts are; "" where it is.
	open, charts string
}

// The toggles of kcm's chart, all of which are on by default.
const (
	createManagement = v1alpha1.K0rdentCreateManagement
	createRelease    = v1alpha1.K0rdentCreateRelease
	createTemplates  = v1alpha1.K0rdentCreateTemplates
)

// installOf reads kcm's HelmRelease.
func (w *world) installOf(o *reconcile.Object) *install {
	find := func(id reconcile.Identity) *reconcile.Object { return w.All[id] }
	i := &install{of: o, version: exact(o.ChartVersion(find)), toggles: map[string]any{}}
	controller, _ := o.Field("spec", "values", "controller").(map[string]any)
	if len(o.List("spec", "valuesFrom")) > 0 {
		if all, err := w.Values(o); err == nil {
			controller, _ = all["controller"].(map[string]any)
		} else {
			i.open = fmt.Sprintf("%s takes values from other objects, too", o)
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

// exact is a version without a leading v, "" for what is none, such as a range.
func exact(version string) string {
	version = strings.TrimPrefix(version, "v")
	if _, err := semver.StrictNewVersion(version); err != nil {
		return ""
	}
	return version
}

// off says that Git holds kcm's HelmRelease, and that a part of kcm is off in it.
func (w *world) off(toggle string) bool { return w.kcm != nil && w.kcm.toggles[toggle] == false }

// on says that Git holds kcm's HelmRelease, and that a part of kcm is on in it; doubt is why that, or
// whether it is off, isn't known.
func (w *world) on(toggle string) (is bool, doubt string) {
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

// createsRelease says whether kcm creates the Release of its own version, and why that isn't known. It
// does so together with the templates.
func (w *world) createsRelease() (is bool, doubt string) {
	release, open := w.on(createRelease)
	templates, other := w.on(createTemplates)
	if w.off(createRelease) || w.off(createTemplates) {
		return false, ""
	}
	return release && templates, cmp.Or(open, other)
}

// isTemplate says whether a kind is one of templates that kcm creates.
func isTemplate(kind string) bool { return kind == clusterTemplate || kind == providerTemplate }

// made says of what Git doesn't hold whether kcm makes it, and why kcm or people may have made it.
func (w *world) made(r platform.Reference) (is bool, doubt string) {
	var known bool
	switch {
	case r.Kind == release:
		is, known, doubt = w.madeRelease(r.Name)
	case isTemplate(r.Kind) && (r.Namespace == "" || r.Namespace == system):
		is, known, doubt = w.madeTemplate(r)
	case (r.Kind == clusterTemplate || r.Kind == serviceTemplate) && r.Namespace != system && !w.off(createTemplates) && !w.Holds(group, accessKind):
		doubt = "Git has no AccessManagement, which distributes templates to namespaces"
	}
	switch {
	case is || known || doubt != "":
		return is, doubt
	case !w.Holds(r.Group, r.Kind):
		return false, "Git has no " + r.Kind + " at all"
	}
	return false, w.bringing(r)
}

// bringing is the HelmRelease of a chart that is only there to bring templates (those of k0rdent's
// catalog, https://github.com/k0rdent/catalog), of which it isn't known what it brings.
func (w *world) bringing(r platform.Reference) string {
	if o := w.charts[r.Namespace]; o != nil && r.Kind == serviceTemplate {
		if chart := w.Chart(o); chart == "kgst" || strings.Contains(chart, "-service-template") {
			return "the chart of " + o.String() + " may install it"
		}
	}
	return ""
}

// madeRelease says whether kcm creates a Release; known says that it can be told that it doesn't,
// whatever else is there.
func (w *world) madeRelease(name string) (is, known bool, doubt string) {
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

// madeTemplate says whether kcm creates a template in its namespace.
func (w *world) madeTemplate(r platform.Reference) (is, known bool, doubt string) {
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
	slip := ""
	for _, release := range of {
		if slices.Contains(w.namesOf(release, r.Kind), r.Name) {
			return true, false, ""
		}
		slip = cmp.Or(slip, w.Slip(r.Name, w.namesOf(release, r.Kind)))
	}
	chart := chartOf(nil, r.Name)
	if doubt == "" && w.anyEarlier(of, r.Name, chart) {
		doubt = "an earlier kcm may have created it"
	}
	return false, doubt == "" && (slip != "" || chart != "" && len(of) > 0 && of[0].ChartVersion(chart) != ""), doubt
}

// templated are the releases whose templates kcm creates: its own, and those of the Releases in Git;
// doubt is why there may be more.
func (w *world) templated() (of []*kcm.Release, doubt string) {
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
		doubt = "Git has no Release, of which kcm creates templates"
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

// namesOf are the names of the templates that kcm creates of a release.
func (w *world) namesOf(of *kcm.Release, kind string) []string {
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

// anyEarlier says whether a template is of a version of a chart before that of one of some releases.
func (w *world) anyEarlier(of []*kcm.Release, name, chart string) bool {
	return slices.ContainsFunc(of, func(r *kcm.Release) bool {
		return r.ChartVersion(chart) != "" && w.earlier(name, chart, r.ChartVersion(chart))
	})
}

// earlier says whether a name is that of an earlier version of something.
func (w *world) earlier(name, of, version string) bool {
	v := versionedName(name, of)
	return v != nil && v.LessThan(semver.MustParse(version))
}

// versionedName is the version in the name of a version of something, nil where it is none.
func versionedName(name, of string) *semver.Version {
	base, numbers := splitVersion(name)
	if base != of || len(numbers) != 3 {
		return nil
	}
	return semver.New(uint64(max(numbers[0], 0)), uint64(max(numbers[1], 0)), uint64(max(numbers[2], 0)), "", "")
}

// createdNames are the names of a kind that kcm is known to create.
func (w *world) createdNames(kind string) []string {
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
