// Package bootstrap generates the helmfile that prepares a cluster for Flux.
//
// The helmfile does not repeat the settings of a release. It reads chart, version and values at run time from the
// HelmRelease and its source in Git, so that the bootstrap cannot drift from them. Tests run the templates with the real
// helmfile: in a plain helmfile.yaml, templates work in the chart, version and values of a release, and readFile is
// relative to the helmfile. In values templates, readFile is relative to the template's own folder.
package bootstrap

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/manifest"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// valuesTemplate is the path of the values template, which all helmfiles share.
const valuesTemplate = "bootstrap/templates/values.yaml.gotmpl"

// Generate writes a helmfile for each cluster with bootstrapped add-ons or with releases of platform
// products.
func Generate(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, products func(*v1alpha1.Cluster) []*addon.Placed) {
	written := false
	for _, c := range spec.Clusters {
		places := addon.Places(spec, lay, c)
		for _, p := range products(c) {
			needFlux(p, places)
			places[p.Addon.Metadata.Name] = p
		}
		written = cluster(out, places, lay, c) || written
	}
	if written {
		out.Text(valuesTemplate, tree.Managed, []byte(
			"{{ readFile (printf \""+up(path.Dir(valuesTemplate))+"%s\" .Release.Labels.helmrelease) | fromYaml | get \"spec.values\" (dict) | toYaml }}\n"))
	}
}

// needFlux adds Flux to the dependencies of a product's release, if the bootstrap installs Flux.
func needFlux(p *addon.Placed, places map[string]*addon.Placed) {
	for _, name := range []string{layout.FluxOperator, layout.FluxInstance} {
		if on := places[name]; on != nil && on.Addon.Spec.Bootstrap != nil && on.Release != "" {
			p.Addon.Spec.Bootstrap.Needs = append(p.Addon.Spec.Bootstrap.Needs, name)
		}
	}
}

// cluster writes a cluster's helmfiles. It returns whether the cluster has any.
func cluster(out *emit.Files, places map[string]*addon.Placed, lay layout.Layout, c *v1alpha1.Cluster) bool {
	var releases, crds []release
	repositories := map[string]repository{}
	dir := lay.Bootstrap(c)
	for _, name := range slices.Sorted(maps.Keys(places)) {
		p := places[name]
		if p.Addon.Spec.Bootstrap == nil || p.Release == "" {
			continue
		}
		if !isOCI(p.Addon) {
			repositories[name] = repository{Name: name, URL: p.Addon.Spec.Chart.URL}
		}
		releases = append(releases, newRelease(p, places, dir))
		if p.Addon.Spec.Bootstrap.CRDs {
			// A chart with CustomResourceDefinitions in its templates would otherwise fail, because the first
			// stage has already applied them.
			releases[len(releases)-1].TakeOwnership = true
			crd := newRelease(p, places, dir)
			crd.Needs, crd.Hooks = nil, nil
			crds = append(crds, crd)
		}
	}
	if len(releases) == 0 {
		return false
	}
	file := helmfile{
		HelmDefaults: helmDefaults{CleanupOnFail: true, Wait: true, WaitForJobs: true},
		Repositories: slices.Collect(maps.Values(repositories)),
		Releases:     order(releases),
	}
	sorting.Func(file.Repositories, func(a, b repository) int { return cmp.Compare(a.Name, b.Name) })
	file.Templates = templates(dir, releases)
	title := "Prepares cluster " + c.Metadata.Name + " for Flux, which then takes the releases over:\n" +
		"chart, version and values are read from the manifests that Flux applies.\n"
	write(out, path.Join(dir, "helmfile.yaml"), title+"Run: make -C "+dir+" boot check", file)
	out.Text(path.Join(dir, "Makefile"), tree.Managed, makefile(c, dir, places, len(crds) > 0))
	if len(crds) > 0 {
		file.HelmDefaults = helmDefaults{Args: []string{"--include-crds", "--no-hooks"}}
		file.Releases, file.Templates = crds, templates(dir, crds)
		write(out, path.Join(dir, "crds.yaml"), "The custom resource definitions of the charts, before any release of helmfile.yaml.\n"+
			"Run: helmfile --file "+path.Join(dir, "crds.yaml")+" template --quiet | yq 'select(.kind == \"CustomResourceDefinition\")' | kubectl apply --server-side --filename -", file)
	}
	return true
}

func write(out *emit.Files, file, comment string, content helmfile) {
	data, err := manifest.YAML(manifest.Header+"\n"+comment, content)
	if err != nil {
		out.Fail(err)
		return
	}
	out.Text(file, tree.Managed, data)
}

func newRelease(p *addon.Placed, places map[string]*addon.Placed, dir string) release {
	a := p.Addon
	r := release{
		Name:      a.Spec.ReleaseName,
		Namespace: a.Spec.Namespace,
		Labels:    map[string]string{"helmrelease": p.HelmRelease()},
		Inherit:   []inherit{{Template: "repository"}},
	}
	if isOCI(a) {
		r.Labels["source"] = path.Join(p.Release, addon.SourceFile(a))
		r.Inherit = []inherit{{Template: "oci"}}
	}
	for _, name := range a.Spec.Bootstrap.Needs {
		if need := places[name]; need != nil {
			r.Needs = append(r.Needs, need.Addon.Spec.Namespace+"/"+need.Addon.Spec.ReleaseName)
		}
	}
	r.Hooks = waitFor("presync", p.WaitFor)
	if a.Metadata.Name == layout.FluxInstance {
		r.Hooks = append(r.Hooks, waitForFlux()...)
	}
	for _, h := range a.Spec.Bootstrap.Hooks {
		r.Hooks = append(r.Hooks, waitFor("postsync", h.WaitForCRDs)...)
		if h.Apply != "" {
			r.Hooks = append(r.Hooks, kubectl("postsync", "apply", "--server-side", "--force-conflicts",
				"--field-manager=kustomize-controller", "--filename="+up(dir)+p.Resources[h.Apply]))
		}
		if h.Apply == layout.FluxInstance {
			r.Hooks = append(r.Hooks, waitForFlux()...)
		}
	}
	return r
}

// waitFor returns hooks that wait for CustomResourceDefinitions.
func waitFor(event string, crds []string) []hook {
	var hooks []hook
	for _, crd := range crds {
		hooks = append(hooks, kubectl(event, "wait", "--for=create", "--timeout=5m", "crd/"+crd),
			kubectl(event, "wait", "--for=condition=Established", "--timeout=5m", "crd/"+crd))
	}
	return hooks
}

// kubectl returns a hook that runs kubectl before or after a release is installed, in the folder of the
// helmfile.
func kubectl(event string, args ...string) hook {
	return hook{Events: []string{event}, Command: "kubectl", Args: args, ShowLogs: true}
}

// templates returns the helmfile templates with which releases read their chart and version: one for OCI charts, and one
// for charts of Helm repositories.
func templates(dir string, releases []release) map[string]template {
	values := []string{emit.Relative(dir, valuesTemplate)}
	read := func(label, field string) string {
		return "{{ readFile (printf \"" + up(dir) + "%s\" .Release.Labels." + label + ") | fromYaml | get \"" + field + "\" }}"
	}
	all := map[string]template{
		"oci": {
			Chart: read("source", "spec.url"), Version: read("source", "spec.ref.tag"), Values: values,
		},
		"repository": {
			Chart:   read("helmrelease", "spec.chart.spec.sourceRef.name") + "/" + read("helmrelease", "spec.chart.spec.chart"),
			Version: read("helmrelease", "spec.chart.spec.version"), Values: values,
		},
	}
	used := map[string]template{}
	for _, r := range releases {
		used[r.Inherit[0].Template] = all[r.Inherit[0].Template]
	}
	return used
}

// order sorts releases so that each comes after the releases that it needs. Validation has rejected cycles.
func order(releases []release) []release {
	byID := map[string]release{}
	for _, r := range releases {
		byID[r.Namespace+"/"+r.Name] = r
	}
	var out []release
	placed := map[string]bool{}
	var place func(id string)
	place = func(id string) {
		r, known := byID[id]
		if placed[id] || !known {
			return
		}
		placed[id] = true
		for _, need := range r.Needs {
			place(need)
		}
		out = append(out, r)
	}
	for _, r := range releases {
		place(r.Namespace + "/" + r.Name)
	}
	return out
}

func isOCI(a *v1alpha1.Addon) bool { return strings.HasPrefix(a.Spec.Chart.URL, "oci://") }

// up returns the relative path from a folder to the root.
func up(dir string) string { return strings.Repeat("../", strings.Count(dir, "/")+1) }
