package helmfile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/templates"
	"github.com/fleetwright/fleetwright/schemas"
)

// evaluate computes all releases of a helmfile.
func (r *reader) evaluate(h *helmfile) []*Release {
	var out []*Release
	for _, raw := range h.releases {
		out = append(out, r.release(h, raw))
	}
	if len(out) == 0 && len(h.calls) == 0 {
		out = r.unreadable(h)
	}
	h.checkReleases(out)
	return out
}

// unreadable returns a placeholder for a helmfile whose releases cannot be read, or nothing if it simply has none.
func (r *reader) unreadable(h *helmfile) []*Release {
	out := &Release{Definition: InHelmfile, Cluster: repository.BootstrapCluster(r.Paths(), h.file),
		Stops: slices.ContainsFunc(h.refusals, func(r Refusal) bool { return !r.Doubtful })}
	switch {
	case h.broken != nil:
		out.Place, out.Unreadable = located.At(h.file, h.broken.line), h.broken.reason
	case len(h.refusals) > 0:
		out.Place, out.Unreadable = h.refusals[0].Place, "helmfile refuses the file: "+h.refusals[0].Value
	default:
		return nil
	}
	return []*Release{out}
}

// release evaluates a release for all values of environment variables that decide which files its own templates read.
func (r *reader) release(h *helmfile, raw *rawRelease) *Release {
	before := len(h.refusals)
	out := combined(templates.Explore(r.Engine, func() *Release {
		h.refusals = h.refusals[:before:before]
		each := r.evaluateRelease(h, raw)
		each.Refusals = slices.Clone(h.refusals[before:])
		return each
	}))
	h.refusals = append(h.refusals[:before:before], out.Refusals...)
	return out
}

// evaluateRelease evaluates a release under the assumed values.
func (r *reader) evaluateRelease(h *helmfile, raw *rawRelease) *Release {
	out := &Release{Place: raw.Place, Definition: InHelmfile, Reads: map[string]bool{}}
	r.Reads = out.Reads
	whole, err := h.inherited(raw)
	if err != nil {
		r.Exceed(err)
		out.Refused = err.Error()
		if !templates.IsUndecided(err) {
			h.refuse(raw.Place, out.Refused)
		}
		whole = raw
	}
	e := &evaluation{reader: r, h: h, raw: whole}
	e.run()
	out.Name, out.Chart, out.Version = e.fields["name"], e.fields["chart"], e.fields["version"]
	out.Namespace = e.fields["namespace"]
	if h.namespace.Value != "" {
		out.Namespace = h.namespace
	}
	if out.Chart.Value == "" && out.Chart.Unknown == nil && out.Refused == "" {
		out.Refused = fmt.Sprintf("the release %q has no chart", out.Name.Value)
		h.refuse(raw.Place, out.Refused)
	}
	for _, need := range whole.needs {
		out.Needs = append(out.Needs, e.text(need))
	}
	out.Hooks = e.hooks(out)
	out.Patches = whole.patches
	if program, set := whole.fields["postRenderer"]; set {
		out.PostRenderer = program
	} else if all := h.helmDefaults["postRenderer"]; len(all) > 0 {
		out.PostRenderer = located.Text{Place: raw.Place, Value: all[0]}
	}
	out.labels = e.allLabels(out.Namespace.Value)
	out.CRDsOnly = h.crdsOnly(out.Name.Value, whole)
	out.source = h.source(out.Chart.Value)
	out.Folder = r.chartFolder(h.dir, out.Chart)
	e.download(out)
	e.choose(out)
	if out.Skipped == nil {
		e.checkRepository(out.Chart)
	}
	out.Values = e.values(out)
	out.Values.Value.Walk("", func(_ string, v *located.Value) {
		if t, ok := v.Scalar.(string); ok {
			if m, bad := r.Marked(t); bad && !slices.ContainsFunc(out.partial, func(known located.Unknown) bool { return known.Reason == m.Reason }) {
				out.partial = append(out.partial, m)
			}
		}
	})
	out.Cluster = repository.BootstrapCluster(r.Paths(), raw.File)
	return out
}

// source returns the repository that a chart's prefix names; if several have the name, the first, as in helmfile.
func (h *helmfile) source(chart string) located.Text {
	prefix, _, ok := strings.Cut(chart, "/")
	if !ok {
		return located.Text{}
	}
	for _, repo := range h.repositories {
		if repo.name.Value == prefix {
			out := repo.url
			if repo.oci && !strings.HasPrefix(out.Value, "oci://") {
				out.Value = "oci://" + out.Value
			}
			return out
		}
	}
	return located.Text{}
}

// checkRepository refuses a chart's prefix that looks like a typo of a repository's name. Such a chart works only if the prefix
// is a folder, or somebody added a repository with this name by hand on the machine that runs the bootstrap.
func (e *evaluation) checkRepository(chart located.Text) {
	prefix, name, ok := strings.Cut(chart.Value, "/")
	if !ok || chart.Unknown != nil || strings.Contains(name, "/") || e.HasFolder(prefix) || e.Files.Exists(path.Join(e.h.dir, prefix)) {
		return
	}
	var names []string
	for _, repo := range e.h.repositories {
		if repo.name.Value == prefix || repo.name.Unknown != nil || strings.Contains(repo.name.Value, templates.MarkOpen) {
			return
		}
		names = append(names, repo.name.Value)
	}
	near, slip := schemas.Misspelt(prefix, names)
	if !slip {
		return
	}
	e.h.refuse(chart.Place, fmt.Sprintf("the helmfile has no repository %q; did you mean %q?", prefix, near))
}

// crdsOnly recognises the stage that installs only CustomResourceDefinitions: its arguments let helm template them, or its
// post-renderer keeps nothing else.
func (h *helmfile) crdsOnly(name string, raw *rawRelease) bool {
	all := slices.Concat(h.helmDefaults["args"], h.helmDefaults["templateArgs"], h.helmDefaults["postRendererArgs"], raw.args)
	for _, arg := range all {
		if arg == "--include-crds" || strings.Contains(arg, "CustomResourceDefinition") {
			return true
		}
	}
	return strings.HasSuffix(name, "-crds")
}

// choose determines whether helmfile installs the release, and why not.
func (e *evaluation) choose(r *Release) {
	condition := e.fields["condition"]
	if t := e.decided("conditionTemplate", ""); t != nil {
		condition = *t
	}
	installed := e.decided("installedTemplate", "installed")
	enabled, err := e.enabled(condition.Value)
	if err != nil && condition.Unknown == nil {
		e.h.refuseIf(!e.h.env.open(), condition.Place, err.Error())
	}
	r.undecided = err != nil || condition.Unknown != nil || installed != nil && installed.Unknown != nil
	r.installed = installed == nil || isTrue(installed.Value) || installed.Unknown != nil
	r.enabled = enabled || err != nil || condition.Unknown != nil
	switch {
	case !r.installed:
		r.Skipped = &located.Text{Place: installed.Place, Value: "installed is false"}
	case !r.enabled:
		r.Skipped = &located.Text{Place: condition.Place, Value: fmt.Sprintf("the condition %s is false", condition.Value)}
	}
}

// decided returns a boolean field that a template may set, nil if it isn't set.
func (e *evaluation) decided(template, field string) *located.Text {
	if t, set := e.raw.fields[template]; set {
		out := e.trimmed(t)
		return &out
	}
	if t, set := e.raw.fields[field]; set {
		out := e.known(t)
		return &out
	}
	return nil
}

// enabled evaluates a condition "a.b.enabled", the path of a value of the environment.
func (e *evaluation) enabled(condition string) (bool, error) {
	switch strings.ToLower(condition) {
	case "", "true":
		return true, nil
	case "false":
		return false, nil
	}
	keys := strings.Split(condition, ".")
	if keys[len(keys)-1] != "enabled" {
		return false, fmt.Errorf("the condition %q does not end in .enabled", condition)
	}
	at, path := e.h.values, ""
	for _, key := range keys[:len(keys)-1] {
		path += "." + key
		next, ok := at[key]
		if !ok {
			return false, fmt.Errorf("the values of the environment have no field %s", path)
		}
		if at, ok = next.(map[string]any); !ok {
			return false, fmt.Errorf("the field %s of the values of the environment is not a map", path)
		}
	}
	enabled, _ := at["enabled"].(bool)
	return enabled, nil
}

// checkReleases records the errors for which helmfile refuses the list of releases: two releases with the same name, and needs
// that name no release.
func (h *helmfile) checkReleases(all []*Release) {
	seen := map[string]*Release{}
	for _, r := range all {
		if r.Name.Unknown != nil || r.Namespace.Unknown != nil || r.Unreadable != "" {
			return
		}
		if id := r.ID(); r.Skipped == nil {
			if first := seen[id]; first != nil {
				h.refuseIf(!first.undecided && !r.undecided, r.Place, fmt.Sprintf("the release %q is defined twice", r.Name.Value))
			}
			seen[id] = r
		}
	}
}
