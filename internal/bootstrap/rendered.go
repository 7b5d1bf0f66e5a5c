package bootstrap

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// unrendered is the reason why objects are not rendered, and what to do about it.
type unrendered struct{ reason, hint string }

func (u *unrendered) Error() string { return u.reason }

// prove compares the objects of a release with those of its HelmRelease, and judges the differences of values by the result.
func (j *judge) prove(r *helmfile.Release, m *comparison, out *ReleaseReport) {
	if j.prover == nil || r.Skipped != nil || slices.ContainsFunc(out.Differences, func(d Difference) bool {
		return d.Rule == RuleIdentityDrift || d.missing != ""
	}) {
		return
	}
	h := m.helmRelease
	beyond := beyondValues(h)
	if len(out.Differences) == 0 && len(m.unknown) == 0 && len(beyond) == 0 {
		out.Rendered = newRendered(Same) // both render the same input
		return
	}
	out.Rendered = j.rendered(r, h, func(string) bool { return false })
	switch out.Rendered.Result {
	case Same:
		for i := range out.Differences {
			if d := &out.Differences[i]; isValue(d.Field) && !d.Ignored {
				d.Ignored, d.Cosmetic, d.Reason = true, true, cosmetic
			}
		}
	case Differs:
		j.proveMore(r, h, beyond, out)
	}
}

// proveMore adds the differences of the objects that no difference of the values explains. If all differences are intended, it
// renders again with Git's values in their places.
func (j *judge) proveMore(r *helmfile.Release, h *helmrelease.Release, beyond []string, out *ReleaseReport) {
	if slices.ContainsFunc(out.Differences, func(d Difference) bool { return !d.Ignored }) {
		return
	}
	if slices.ContainsFunc(out.Differences, func(d Difference) bool { return !isValue(d.Field) }) && len(beyond) == 0 {
		return // another version has other objects
	}
	if len(out.Differences) > 0 {
		rest := j.rendered(r, h, func(field string) bool {
			return slices.ContainsFunc(out.Differences, func(d Difference) bool { return d.Ignored && d.Field == field })
		})
		if rest.Result != Differs {
			return
		}
	}
	fields := beyond
	if len(fields) == 0 {
		fields = []string{objectsField}
	}
	for _, field := range fields {
		d := Difference{Rule: RuleValuesDrift, Field: field, Git: Side{File: h.File, Line: h.Line}, Cause: causeObjects}
		if field != objectsField {
			d.Cause = fmt.Sprintf("spec.%s of the HelmRelease changes the objects, and the bootstrap installs them unchanged", field)
			d.Git.Value = "set"
			if at := h.Applied.Position("spec", field); at.File != "" {
				d.Git.File, d.Git.Line = at.File, at.Line
			}
		}
		d.Reason = j.excuse(h, out.declared, r, d)
		d.Ignored = d.Reason != ""
		out.Differences = append(out.Differences, d)
	}
}

// beyondValues returns the fields of a HelmRelease, other than the values, that change the rendered objects.
func beyondValues(h *helmrelease.Release) []string {
	var fields []string
	for _, field := range []string{"postRenderers", "commonMetadata"} {
		if h.Field("spec", field) != nil {
			fields = append(fields, field)
		}
	}
	return fields
}

// rendered compares the objects, with Git's values for the fields for which fromGit returns true.
func (j *judge) rendered(r *helmfile.Release, h *helmrelease.Release, fromGit func(field string) bool) *Rendered {
	out := newRendered(Same)
	defer func() { mask.Report(out, hideSecrets(r.Values.Value, j.Values(h).Value)) }()
	diff, err := j.compareObjects(r, h, fromGit)
	if err != nil {
		out.Result, out.Reason = NotRendered, err.Error()
		if why := (*unrendered)(nil); errors.As(err, &why) {
			out.Hint = why.hint
		}
		return out
	}
	out.Summary = RenderedSummary{len(diff.Added), len(diff.Removed), len(diff.Changed), len(diff.Undecided)}
	take := func(objects []*reconcile.Object) []InstalledObject {
		all := []InstalledObject{}
		for _, o := range objects[:min(len(objects), mostObjects)] {
			all = append(all, installed(o, nil))
		}
		return all
	}
	out.Added, out.Removed, out.Undecided = take(diff.Added), take(diff.Removed), take(diff.Undecided)
	for _, changed := range diff.Changed[:min(len(diff.Changed), mostObjects)] {
		out.Changed = append(out.Changed, installed(changed.To, changed.Fields))
	}
	switch {
	case len(diff.Added)+len(diff.Removed)+len(diff.Changed) > 0:
		out.Result = Differs
	case len(diff.Undecided) > 0:
		out.Result = NotRendered
		out.Reason = fmt.Sprintf("%s differs, and its template %s reads the cluster", diff.Undecided[0], diff.Undecided[0].Template)
	}
	return out
}

// compareObjects renders both sides. The error is the reason why they cannot be rendered.
func (j *judge) compareObjects(r *helmfile.Release, h *helmrelease.Release, fromGit func(field string) bool) (*reconcile.InstallDiff, error) {
	if h.Orphan || h.Applied.Kustomization == nil {
		return nil, errors.New("no cluster applies the HelmRelease")
	}
	release := h.Applied.Kustomization.Cluster.HelmRelease(h.Applied)
	if release == nil {
		return nil, errors.New("no cluster applies the HelmRelease")
	}
	if reason := release.NotInstalled(); reason != "" {
		return nil, &unrendered{"the HelmRelease is not rendered: " + reason, hintFor(release)}
	}
	if err := j.unknownInput(r); err != nil {
		return nil, err
	}
	chart, err := j.localChart(r, h, release)
	if err != nil {
		return nil, err
	}
	git := j.Values(h).Value
	return release.Compare(j.prover.ctx, reconcile.Install{Name: r.Name.Value, Namespace: cmp.Or(r.Namespace.Value, h.Namespace), Chart: chart,
		Values: withGitValues("values", r.Values.Value, git, fromGit), DefinitionsOnly: r.CRDsOnly,
		Unit: bounds.Unit{File: r.File, Line: r.Line, Name: "release " + r.Name.Value}})
}

// hintFor returns how to get a chart that is not available locally.
func hintFor(release *reconcile.Release) string {
	switch {
	case release.Uncached, release.Chart == "" && release.Wanted != nil:
		return "run fleetwright fetch"
	case release.Chart == "":
		return "pass --charts DIR with a folder that contains the chart"
	}
	return ""
}

// unknownInput returns an error if an input of the release is unknown, or its objects are changed after rendering.
func (j *judge) unknownInput(r *helmfile.Release) error {
	for _, t := range []located.Text{r.Name, r.Namespace, r.Chart, r.Version} {
		if t.Unknown != nil {
			return errors.New(t.Unknown.Reason)
		}
	}
	if len(r.Values.Unknown) > 0 && !r.CRDsOnly {
		return errors.New(r.Values.Unknown[0].Reason)
	}
	for _, find := range []func(*located.Value) (located.Unknown, bool){j.engine.MarkedIn, j.engine.MarkedKey} {
		if v := r.Values.Value; v != nil {
			if m, is := find(v); is {
				return errors.New(m.Reason)
			}
		}
	}
	switch {
	case r.Refused != "":
		return errors.New(r.Refused)
	case len(r.Patches) > 0:
		return fmt.Errorf("the bootstrap changes the chart or its rendered objects (%s, %s:%d)", r.Patches[0].Value, r.Patches[0].File, r.Patches[0].Line)
	case r.PostRenderer.Value != "" && !r.CRDsOnly:
		return fmt.Errorf("the bootstrap changes the rendered objects with a program (postRenderer, %s:%d)", r.PostRenderer.File, r.PostRenderer.Line)
	case r.Definition == helmfile.InKustomization:
		if field := j.changingField(r.File); field != "" {
			return fmt.Errorf("the kustomization changes the rendered objects (%s, %s)", field, r.File)
		}
	}
	return nil
}

// keepsObjects lists the fields of a kustomization that leave rendered objects as they are.
var keepsObjects = []string{"apiVersion", "kind", "metadata", "namespace", "helmCharts", "helmGlobals", "resources", "configMapGenerator",
	"secretGenerator", "generators", "generatorOptions", "openapi", "crds", "buildMetadata", "sortOptions"}

// changingField returns a field of the kustomization that changes objects, "" if there is none.
func (j *judge) changingField(file string) (field string) {
	if f, ok := j.Repo.File(file); ok && len(f.Documents) > 0 {
		if root := f.Documents[0].Root(); root != nil && root.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(root.Content); i += 2 {
				if name := root.Content[i].Value; !slices.Contains(keepsObjects, name) {
					return name
				}
			}
		}
	}
	return ""
}

// localChart returns the chart of the release, nil if it is the same as the HelmRelease's.
func (j *judge) localChart(r *helmfile.Release, h *helmrelease.Release, release *reconcile.Release) (*charts.Chart, error) {
	if r.Folder != "" {
		return bounds.Do(bounds.Unit{Kind: "loading", File: r.Folder}, func() (*charts.Chart, error) {
			return charts.Folder{Repo: j.Repo, Base: "."}.Load(r.Folder, charts.Options{})
		})
	}
	name, version := helmrelease.ChartName(r.Chart.Value), j.version(r).Value
	git := j.Chart(h)
	if helmrelease.ChartName(git.Name.Value) == name && (helmrelease.SameVersion(version, git.Version.Value) || charts.SameVersion(version, release.ChartVersion())) {
		return nil, nil
	}
	ask, err := r.Request()
	if err != nil {
		return nil, err
	}
	chart, err := j.prover.fleet.LocalChart(name, version, ask)
	switch {
	case err != nil || chart != nil:
		return chart, err
	case version == "":
		return nil, errors.New("the bootstrap pins no version")
	}
	return nil, &unrendered{fmt.Sprintf("chart %s %s of the bootstrap is not available locally", name, version),
		"run fleetwright fetch, or pass --charts DIR with a folder that contains the chart"}
}

// withGitValues returns the bootstrap's value as plain data, with Git's values for the paths for which fromGit returns true.
func withGitValues(at string, own, git *located.Value, fromGit func(field string) bool) any {
	switch {
	case fromGit(at):
		return git.Plain()
	case (located.IsMap(own) || own == nil) && (located.IsMap(git) || git == nil):
		keys := map[string]bool{}
		for _, v := range []*located.Value{own, git} {
			if v != nil {
				for key := range v.Fields {
					keys[key] = true
				}
			}
		}
		out := make(map[string]any, len(keys))
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			field := located.JoinPath(at, key)
			mine, theirs := own.At(key), git.At(key)
			if fromGit(field) && theirs == nil || !fromGit(field) && mine == nil && !adoptsGitBelow(field, theirs, fromGit) {
				continue
			}
			out[key] = withGitValues(field, mine, theirs, fromGit)
		}
		return out
	case located.IsList(own) && located.IsList(git) && len(own.Items) == len(git.Items):
		list := make([]any, len(own.Items))
		for i := range own.Items {
			list[i] = withGitValues(at+"["+strconv.Itoa(i)+"]", own.Items[i], git.Items[i], fromGit)
		}
		return list
	}
	return own.Plain()
}

// adoptsGitBelow reports whether fromGit returns true for a path below at, where the bootstrap lacks Git's value.
func adoptsGitBelow(at string, git *located.Value, fromGit func(field string) bool) bool {
	if !located.IsMap(git) {
		return false
	}
	return slices.ContainsFunc(git.Keys(), func(key string) bool {
		field := located.JoinPath(at, key)
		return fromGit(field) || adoptsGitBelow(field, git.Fields[key], fromGit)
	})
}
