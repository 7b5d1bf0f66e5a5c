package bootstrap

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// RuleFluxDrift is about a bootstrap that installs another Flux than Git says.
const RuleFluxDrift = "bootstrap-flux-drift"

// FluxReport says whether a bootstrap installs the Flux that its cluster keeps then: the
// version of the manifests, or the FluxInstance.
type FluxReport struct {
	// File and Line of what is installed.
	File    string `json:"file"`
	Line    int    `json:"line"`
	Cluster string `json:"cluster"`
	// Installs is what stands there, such as "Flux's manifests"; Version is "" where nothing pins it.
	Installs string  `json:"installs"`
	Version  string  `json:"version"`
	Verdict  Verdict `json:"verdict"`
	// Git is FILE:LINE of what says which Flux the cluster runs, "" where nothing does.
	Git         string       `json:"git"`
	Differences []Difference `json:"differences"`
	Reason      string       `json:"reason"`
}

// Hint says what to do about a Flux that drifts, "" where there is nothing to add.
func (r FluxReport) Hint() string {
	for _, d := range r.Differences {
		if !d.Ignored {
			return r.HintFor(d)
		}
	}
	return ""
}

// HintFor says what is likely the cause of one difference, and what to do about it.
func (FluxReport) HintFor(d Difference) string { return cmp.Or(d.Cause, "install what Git says") }

// fluxInstall is what a bootstrap installs of Flux.
type fluxInstall struct {
	fluxDefinition
	engine *engine
	// written says that it is an object of Flux's that would be applied as it stands: where no
	// cluster has it too, it stands in Git once.
	written bool
	// clusters that it may be meant for, and the one that its path names.
	clusters []*reconcile.Cluster
	cluster  string
}

// mayInstallFlux says whether some file of a repository could install Flux beside the graph.
func mayInstallFlux(repo *repository.Repository, files []bootstrapFile) bool {
	for _, k := range repo.Kustomizes() {
		if _, ok := fluxKustomization(k); ok {
			return true
		}
	}
	if len(repo.ByKind(operatorGroup, "FluxInstance")) > 0 {
		return true
	}
	for _, o := range repo.ByKind("apps", "Deployment") {
		if part, _ := o.Text("metadata", "labels", "app.kubernetes.io/part-of"); part == "flux" {
			return true
		}
	}
	seen := map[[2]string]bool{}
	for _, o := range repo.ByKind(kustomizeGroup, "Kustomization") {
		at, _ := o.Text("spec", "path")
		id := [2]string{o.Namespace + "/" + o.Name, repository.Clean(at)}
		if seen[id] {
			return true
		}
		seen[id] = o.Namespace != ""
	}
	return slices.ContainsFunc(files, func(f bootstrapFile) bool {
		return slices.ContainsFunc(f.releases, func(r *release) bool { return chartName(r.chart.value) == instanceChart })
	})
}

// verifyFlux compares each way in which the repository installs Flux beside the graph with
// what the clusters' graphs say. The releases are those of the flux-instance chart that no
// HelmRelease takes over.
func (g *git) verifyFlux(ctx context.Context, files []bootstrapFile, releases []*release) []FluxReport {
	if len(g.fleet.Clusters) == 0 || !mayInstallFlux(g.repo, files) {
		return nil
	}
	e := newEngine(ctx, g.repo)
	if len(files) > 0 {
		e = files[0].engine
	}
	known := map[*reconcile.Cluster][]fluxDefinition{}
	var all []FluxReport
	for _, install := range g.fluxInstalls(e, releases) {
		var definitions []fluxDefinition
		for _, c := range install.clusters {
			if _, done := known[c]; !done {
				known[c] = g.fluxOf(c)
			}
			definitions = append(definitions, known[c]...)
		}
		definitions = slices.DeleteFunc(definitions, func(d fluxDefinition) bool { return (d.sync != nil) != (install.sync != nil) })
		if len(definitions) == 0 && install.sync == nil {
			definitions = g.unappliedFlux(install)
		}
		if len(definitions) > 0 || !install.written {
			all = append(all, g.judgeFlux(install, definitions))
		}
	}
	slices.SortStableFunc(all, func(a, b FluxReport) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return all
}

// unappliedFlux are the HelmReleases of FluxInstances that no cluster is known to apply, such as
// those behind a Kustomization that fails.
func (g *git) unappliedFlux(install fluxInstall) []fluxDefinition {
	var all []fluxDefinition
	own := filter(g.orphans, func(h *helmRelease) bool {
		return g.chartText(h) == instanceChart && (install.cluster == "" || clusterOf(h.file) == "" || h.in(install.cluster))
	})
	for _, h := range g.adopted(own) {
		all = append(all, g.instanceRelease(h))
	}
	return all
}

// fluxInstalls are what no cluster applies, and installs Flux.
func (g *git) fluxInstalls(e *engine, releases []*release) []fluxInstall {
	var all []fluxInstall
	add := func(d fluxDefinition, clusters []*reconcile.Cluster) {
		if d.file != "" && !g.appliedAnywhere(d.file) && len(clusters) > 0 {
			all = append(all, fluxInstall{d, e, d.sync != nil || d.spec != nil && !d.fromChart, clusters,
				bootstrapCluster(g.repo.Paths(), d.file)})
		}
	}
	for _, k := range g.repo.Kustomizes() {
		if d, ok := fluxKustomization(k); ok {
			add(d, g.clustersFor(d.file))
		}
	}
	var rest []*reconcile.Object
	for _, o := range g.plain {
		if o.Group != operatorGroup || o.Kind != "FluxInstance" {
			rest = append(rest, o)
			continue
		}
		d := instanceDefinition(place{o.File, o.Line}, o.String(), g.object(o).at("spec"), false, nil)
		add(d, g.syncedBy(d)) // one that syncs none of the clusters is an example, or another repository's
	}
	for _, d := range controllersOf(rest) {
		add(d, g.clustersFor(d.file))
	}
	written := kustomizationsByPath(rest)
	for _, c := range g.fleet.Clusters {
		for _, d := range g.writtenSyncs(c, written[c.Root.Path]) {
			add(d, []*reconcile.Cluster{c})
		}
	}
	for _, r := range releases {
		d := instanceDefinition(r.place, "release "+r.id(), r.values.value.at("instance"), true, r.values.unknown)
		clusters := g.syncedBy(d)
		if len(clusters) == 0 {
			clusters = g.clustersFor(r.file)
		}
		add(d, clusters)
	}
	return all
}

// kustomizationsByPath are the Flux Kustomizations among objects, by the folder that they apply.
func kustomizationsByPath(objects []*reconcile.Object) map[string][]*reconcile.Object {
	all := map[string][]*reconcile.Object{}
	for _, o := range objects {
		if o.Group == kustomizeGroup && o.Kind == "Kustomization" {
			folder := repository.Clean(textOf(o.Value, "spec", "path"))
			all[folder] = append(all[folder], o)
		}
	}
	return all
}

// writtenSyncs are the pairs in files that start a cluster as its own does: a Kustomization of
// the same name, of those written for the cluster's folder, with its source beside it. One that a
// kustomization lists isn't applied as it is written: it is part of another cluster's folder, or of a
// copy of this one's.
func (g *git) writtenSyncs(c *reconcile.Cluster, written []*reconcile.Object) []fluxDefinition {
	root := c.Kustomizations[0]
	var all []fluxDefinition
	for _, o := range written {
		if o.Namespace != root.Namespace || o.Name != root.Name || g.repo.Use(o.File) == repository.Resource || g.appliedAnywhere(o.File) {
			continue
		}
		all = append(all, g.syncPair(o, func(id reconcile.Identity) []*reconcile.Object {
			return slices.DeleteFunc(g.written(id.Group, id.Kind, id.Name), func(s *reconcile.Object) bool {
				return s.Namespace != id.Namespace || path.Dir(s.File) != path.Dir(o.File)
			})
		})...)
	}
	return all
}

// appliedAnywhere says whether appliedOn says so of any cluster.
func (g *git) appliedAnywhere(file string) bool {
	if g.filesRead == nil {
		g.filesRead, g.partly = map[string]bool{}, map[string]bool{}
		for _, c := range g.fleet.Clusters {
			for _, k := range c.Kustomizations {
				g.noteApplied(k)
			}
		}
	}
	if g.filesRead[file] || g.partly["."] {
		return true
	}
	for dir := path.Dir(file); len(dir) > 1; dir = path.Dir(dir) {
		if g.partly[dir] {
			return true
		}
	}
	return false
}

func (g *git) noteApplied(k *reconcile.Kustomization) {
	if k.Repo != g.repo {
		return
	}
	for _, file := range k.Files {
		g.filesRead[file] = true
	}
	if !k.Complete() {
		g.partly[k.Dir] = true
	}
}

// clustersFor are those that a bootstrap file may be meant for: the one that its path names,
// else those whose folders are nearest to it.
func (g *git) clustersFor(file string) []*reconcile.Cluster {
	if name := bootstrapCluster(g.repo.Paths(), file); name != "" {
		own := slices.DeleteFunc(slices.Clone(g.fleet.Clusters), func(c *reconcile.Cluster) bool {
			return !c.Is(name) && !slices.Contains(strings.Split(c.Root.Path, "/"), name)
		})
		if len(own) > 0 {
			return own
		}
	}
	most := 0
	shared := func(c *reconcile.Cluster) int { return sharedFolders(file, c.Root.Path+"/file") }
	for _, c := range g.fleet.Clusters {
		most = max(most, shared(c))
	}
	return slices.DeleteFunc(slices.Clone(g.fleet.Clusters), func(c *reconcile.Cluster) bool { return shared(c) < most })
}

// syncedBy are the clusters that start from the folder which a FluxInstance syncs.
func (g *git) syncedBy(d fluxDefinition) []*reconcile.Cluster {
	at := textAt(d.spec, "sync", "path").value
	return slices.DeleteFunc(slices.Clone(g.fleet.Clusters), func(c *reconcile.Cluster) bool {
		return at == "" || c.Root.Path != repository.Clean(at)
	})
}

// judgeFlux gives the verdict on what a bootstrap installs: of several definitions, one that
// agrees, else what all of them say.
func (g *git) judgeFlux(install fluxInstall, definitions []fluxDefinition) FluxReport {
	out := FluxReport{File: install.file, Line: install.line, Cluster: install.cluster, Installs: install.what,
		Version: shown(install.version), Verdict: Unresolved, Differences: []Difference{}}
	if len(definitions) == 0 {
		out.Reason = "nothing that Flux applies says which Flux the cluster runs"
		return out
	}
	var first *comparison
	same := true
	for i := range definitions {
		c := g.compareFlux(install, definitions[i])
		if len(c.differences)+len(c.unknown) == 0 {
			out.Verdict, out.Git = Agrees, fmt.Sprintf("%s:%d", definitions[i].file, definitions[i].line)
			return out
		}
		if first == nil {
			first = c
		}
		same = same && sameDifferences(first.differences, c.differences)
	}
	d := definitions[0]
	if !same {
		out.Reason = fmt.Sprintf("what says which Flux runs differs between %s:%d and others, and which of them the bootstrap is for is not known", d.file, d.line)
		return out
	}
	out.Git = fmt.Sprintf("%s:%d", d.file, d.line)
	open := false
	for _, difference := range first.differences {
		difference.Rule = RuleFluxDrift
		difference.Reason = g.ignored(RuleFluxDrift, "", place{difference.Bootstrap.File, difference.Bootstrap.Line}, install.place)
		difference.Ignored = difference.Reason != ""
		open = open || !difference.Ignored
		out.Differences = append(out.Differences, difference)
	}
	switch {
	case open:
		out.Verdict = Drift
	case len(first.unknown) > 0:
		out.Reason = strings.Join(first.unknown, "; ")
	default:
		out.Verdict = Intended
	}
	return out
}

// compareFlux compares what a bootstrap installs with what Git says. Of manifests that are not
// at hand only the version can be compared.
func (g *git) compareFlux(install fluxInstall, d fluxDefinition) *comparison {
	c := &comparison{engine: install.engine, helmfile: install.file, definition: "bootstrap"}
	c.fluxVersion(install.fluxDefinition, d)
	switch a := install.fluxDefinition; {
	case a.sync != nil:
		for _, field := range []string{"kustomization", "source"} {
			x, y := withoutPath(a.sync.at(field)), withoutPath(d.sync.at(field))
			c.diff(field, pair{value: x, sure: x}, pair{value: y, sure: y})
		}
	case a.spec != nil && d.spec != nil:
		c.instances(a, d)
	case len(a.components) > 0 && d.spec != nil:
		c.components(a, d)
	}
	return c
}

// withoutPath leaves out the folder, which is the same on both sides where syncs are compared.
func withoutPath(spec *value) *value {
	out := *spec
	out.fields = maps.Clone(spec.fields)
	delete(out.fields, "path")
	return &out
}

// fluxVersion compares versions. A range that the other's version is in leaves open what runs.
func (c *comparison) fluxVersion(a, b fluxDefinition) {
	if a.version.value == "" && a.spec != nil && a.version.unknown == nil {
		a.version.value = defaultInstance(a, "distribution", "version")
	}
	if b.version.value == "" && b.spec != nil && b.version.unknown == nil {
		b.version.value = defaultInstance(b, "distribution", "version")
	}
	cause := versionCause(a.version, b.version, false)
	x, y := a.version, b.version
	switch {
	case x.unknown != nil:
		c.unresolved(x.unknown)
	case y.unknown != nil:
		c.unresolved(y.unknown)
	case x.value == y.value || sameVersion(x.value, y.value):
	case x.value == "":
		c.differ(RuleFluxDrift, "version", cause, Side{File: x.file, Line: x.line}, side(y))
	case a.spec != nil && b.spec != nil:
		c.differ(RuleFluxDrift, "version", cause, side(x), side(y))
	case isRange(x.value) && isRange(y.value):
		c.unresolved(&mark{reason: "neither the bootstrap nor Git pins a version of Flux"})
	default:
		c.fluxRange(x, y, cause)
	}
}

// fluxRange compares versions of which one may be a range.
func (c *comparison) fluxRange(x, y text, cause string) {
	exact, allowed := x, y
	if isRange(x.value) {
		exact, allowed = y, x
	}
	version, err := semver.NewVersion(normalVersion(exact.value))
	constraint, err2 := semver.NewConstraint(normalVersion(allowed.value))
	switch {
	case err != nil || err2 != nil:
		c.unresolved(&mark{reason: fmt.Sprintf("%q and %q cannot be compared as versions", x.value, y.value)})
	case isRange(allowed.value) && (constraint.Check(version) || version.Prerelease() != ""):
		c.unresolved(&mark{reason: fmt.Sprintf("which version of Flux runs is not pinned: %q is a range", allowed.value)})
	default:
		c.differ(RuleFluxDrift, "version", cause, side(x), side(y))
	}
}

// instances compares the specs of two FluxInstances, but for their versions.
func (c *comparison) instances(a, b fluxDefinition) {
	for _, m := range slices.Concat(a.open, b.open) {
		c.unresolved(&m)
	}
	x, y := a.spec.clone(), b.spec.clone()
	for _, spec := range []*value{x, y} {
		if distribution := spec.at("distribution"); isMap(distribution) {
			delete(distribution.fields, "version")
		}
	}
	c.alike(x, y, a, b)
	c.diff("spec", pair{value: x, sure: x, open: len(a.open) > 0}, pair{value: y, sure: y, open: len(b.open) > 0})
}

// alike takes out of both specs what one leaves to a default that the other spells out, what
// the chart of one decides, and paths that lead to the same folder.
func (c *comparison) alike(x, y *value, a, b fluxDefinition) {
	for _, each := range []struct {
		spec, other *value
		of          fluxDefinition
	}{{x, y, a}, {y, x, b}} {
		for _, at := range instanceDefaults {
			given := each.other.at(at.path...)
			if given == nil || each.spec.at(at.path...) != nil {
				continue
			}
			byDefault := defaultInstance(each.of, at.path...)
			if textOfDefault(given) == byDefault || each.of.fromChart && byDefault == "" {
				delete(each.other.at(at.path[:len(at.path)-1]...).fields, at.path[len(at.path)-1])
			}
		}
	}
	folder := func(spec *value) string { return repository.Clean(textAt(spec, "sync", "path").value) }
	if isMap(x.at("sync")) && isMap(y.at("sync")) && folder(x) == folder(y) {
		delete(x.at("sync").fields, "path")
		delete(y.at("sync").fields, "path")
	}
}

// components compares the controllers in manifests with those that a FluxInstance asks for.
func (c *comparison) components(a, b fluxDefinition) {
	want := defaultInstance(b, "components")
	at := b.place
	if list := b.spec.at("components"); list != nil {
		if m := unknownIn(list); m != nil || !isList(list) {
			return
		}
		want, at = textOfDefault(list), list.place
	}
	if have := strings.Join(a.components, ","); have != want {
		c.differ(RuleFluxDrift, "components", "", Side{Value: have, File: a.file, Line: a.line}, Side{Value: want, File: at.file, Line: at.line})
	}
}

// textOfDefault is a value as [instanceDefaults] write it: the items of a list with commas
// between them.
func textOfDefault(v *value) string {
	if !v.isList {
		return fmt.Sprint(v.scalar)
	}
	texts := make([]string, len(v.items))
	for i, item := range v.items {
		texts[i] = fmt.Sprint(item.scalar)
	}
	return strings.Join(texts, ",")
}

// instanceDefault is what a FluxInstance comes to that leaves a field out, and one that the
// chart makes; "" where that isn't fixed.
type instanceDefault struct {
	path            []string
	object, inChart string
}

// Source: api/v1/fluxinstance_types.go of github.com/controlplaneio-fluxcd/flux-operator
// v0.58, and the values of its chart flux-instance.
var instanceDefaults = []instanceDefault{
	{[]string{"distribution", "version"}, "", "2.x"},
	{[]string{"distribution", "registry"}, "", "ghcr.io/fluxcd"},
	{[]string{"distribution", "artifact"}, "", ""},
	{[]string{"components"}, "helm-controller,kustomize-controller,notification-controller,source-controller",
		"helm-controller,kustomize-controller,notification-controller,source-controller"},
	{[]string{"cluster", "type"}, "kubernetes", "kubernetes"},
	{[]string{"cluster", "domain"}, "cluster.local", "cluster.local"},
	{[]string{"cluster", "networkPolicy"}, "true", "true"},
	{[]string{"cluster", "multitenant"}, "false", "false"},
	{[]string{"cluster", "multitenantWorkloadIdentity"}, "false", "false"},
	{[]string{"cluster", "tenantDefaultServiceAccount"}, "default", "default"},
	{[]string{"sharding", "key"}, "sharding.fluxcd.io/key", "sharding.fluxcd.io/key"},
	{[]string{"sync", "interval"}, "1m", "1m"},
	{[]string{"sync", "kind"}, "", "GitRepository"},
	{[]string{"sync", "name"}, "flux-system", "flux-system"},
	{[]string{"wait"}, "true", "true"},
	{[]string{"migrateResources"}, "true", "true"},
}

func defaultInstance(d fluxDefinition, at ...string) string {
	for _, known := range instanceDefaults {
		if slices.Equal(known.path, at) {
			if d.fromChart {
				return known.inChart
			}
			return known.object
		}
	}
	return ""
}
