package bootstrap

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/fluxinstall"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// fluxInstance is a cluster whose FluxInstance has a spec.
func fluxInstance(file, spec string) string {
	return "-- " + file + ` --
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec:
` + spec
}

const eu = `  distribution: {version: 2.9.5, registry: ghcr.io/fluxcd}
  sync: {kind: GitRepository, url: https://example.com/fleet.git, ref: refs/heads/main, path: clusters/eu}
`

// fluxChart is a cluster whose FluxInstance the chart makes.
const fluxChart = `-- clusters/eu/sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: https://example.com/fleet.git, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./clusters/eu, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/eu/flux.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: flux-instance, namespace: flux-system}
spec:
  chartRef: {kind: OCIRepository, name: flux-instance}
  values:
    instance:
      distribution: {version: 2.9.5}
      components: [kustomize-controller, source-controller]
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: flux-instance, namespace: flux-system}
spec: {url: oci://ghcr.io/controlplaneio-fluxcd/charts/flux-instance, ref: {tag: 0.58.0}}
`

// fluxSources are Flux's manifests, which the cluster fetches and applies.
const fluxSources = `-- clusters/eu/all.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet.git, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./clusters/eu, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: flux-manifests, namespace: flux-system}
spec: {url: oci://ghcr.io/fluxcd/flux-manifests, ref: {tag: v2.9.5}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux, namespace: flux-system}
spec: {path: ./, prune: true, sourceRef: {kind: OCIRepository, name: flux-manifests}}
`

// manifestsOf is a bootstrap that applies Flux's manifests.
func manifestsOf(reference string) string {
	return "-- bootstrap/kustomization.yaml --\nresources:\n  - " + reference + "\n"
}

func deployments(file, version string, names ...string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "-- %s --\n", file)
	for _, name := range names {
		fmt.Fprintf(&out, "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: %s\n  namespace: flux-system\n  labels:\n    app.kubernetes.io/part-of: flux\n    app.kubernetes.io/version: %s\n---\n", name, version)
	}
	return out.String()
}

// TestFlux holds what installs Flux against what the cluster runs.
func TestFlux(t *testing.T) {
	const remote = "github.com/fluxcd/flux2/manifests/install?ref="
	instance := fluxInstance("clusters/eu/flux.yaml", eu)
	for _, test := range []struct{ name, repo, want string }{
		{"the same version", manifestsOf(remote+"v2.9.5") + instance, "bootstrap/kustomization.yaml:2 agrees clusters/eu/flux.yaml:1"},
		{"another version", manifestsOf(remote+"v2.9.4") + instance,
			"bootstrap/kustomization.yaml:2 drift clusters/eu/flux.yaml:1 version=2.9.5(clusters/eu/flux.yaml:5)"},
		{"a version of kustomize's spelling", manifestsOf("https://github.com/fluxcd/flux2//manifests/install/?timeout=120&version=v2.9.5") + instance,
			"bootstrap/kustomization.yaml:2 agrees clusters/eu/flux.yaml:1"},
		{"a release's file", manifestsOf("https://github.com/fluxcd/flux2/releases/download/v2.8.0/install.yaml") + instance,
			"bootstrap/kustomization.yaml:2 drift clusters/eu/flux.yaml:1 version=2.9.5(clusters/eu/flux.yaml:5)"},
		{"the newest", manifestsOf("https://github.com/fluxcd/flux2/releases/latest/download/install.yaml") + instance,
			"bootstrap/kustomization.yaml:2 drift clusters/eu/flux.yaml:1 version=2.9.5(clusters/eu/flux.yaml:5)"},
		{"a branch", manifestsOf(remote+"main") + instance, `bootstrap/kustomization.yaml:2 unresolved clusters/eu/flux.yaml:1 "main" and "2.9.5" cannot be compared as versions`},
		{"in a range", manifestsOf(remote+"v2.9.4") + strings.Replace(instance, "2.9.5", "2.9.x", 1),
			`bootstrap/kustomization.yaml:2 unresolved clusters/eu/flux.yaml:1 the version of Flux is not pinned: "2.9.x" is a range`},
		{"out of a range", manifestsOf(remote+"v2.8.4") + strings.Replace(instance, "2.9.5", "2.9.x", 1),
			"bootstrap/kustomization.yaml:2 drift clusters/eu/flux.yaml:1 version=2.9.x(clusters/eu/flux.yaml:5)"},
		{"what the chart makes", manifestsOf(remote+"v2.9.4") + fluxChart,
			"bootstrap/kustomization.yaml:2 drift clusters/eu/flux.yaml:1 version=2.9.5(clusters/eu/flux.yaml:8)"},
		{"what a source fetches", manifestsOf(remote+"v2.9.4") + fluxSources,
			"bootstrap/kustomization.yaml:2 drift clusters/eu/all.yaml:11 version=v2.9.5(clusters/eu/all.yaml:14)"},
		{"a file of manifests", deployments("bootstrap/gotk-components.yaml", "v2.9.5", "kustomize-controller", "source-controller") + fluxChart,
			"bootstrap/gotk-components.yaml:8 agrees clusters/eu/flux.yaml:1"},
		{"a file with other components", deployments("bootstrap/gotk-components.yaml", "v2.9.5", "kustomize-controller", "source-controller", "helm-controller") + fluxChart,
			"bootstrap/gotk-components.yaml:8 drift clusters/eu/flux.yaml:1 components=kustomize-controller,source-controller(clusters/eu/flux.yaml:9)"},
		{"a file of the next version", deployments("flux/v2.9.6/gotk-components.yaml", "v2.9.6", "kustomize-controller", "source-controller") + fluxChart, ""},
		{"a file of the next version, which a script applies", deployments("flux/v2.9.6/gotk-components.yaml", "v2.9.6", "kustomize-controller", "source-controller") + fluxChart + "-- deploy.sh --\nkubectl apply -k flux/v2.9.6\n",
			"flux/v2.9.6/gotk-components.yaml:8 drift clusters/eu/flux.yaml:1 version=2.9.5(clusters/eu/flux.yaml:8)"},
		{"what `flux install` wrote", manifestsOf(remote+"v2.9.4") + deployments("clusters/eu/gotk-components.yaml", "v2.9.5", "kustomize-controller", "source-controller") +
			strings.Split(fluxChart, "-- clusters/eu/flux.yaml")[0],
			"bootstrap/kustomization.yaml:2 drift clusters/eu/gotk-components.yaml:8 version=v2.9.5(clusters/eu/gotk-components.yaml:8)"},
		{"a Flux of its own in another namespace", strings.ReplaceAll(deployments("services/flux/flux.yaml", "v2.7.2", "kustomize-controller", "source-controller"), "part-of: flux\n", "part-of: flux\n    app.kubernetes.io/instance: services-flux\n") +
			strings.ReplaceAll(deployments("clusters/eu/gotk-components.yaml", "v2.9.5", "kustomize-controller", "source-controller"), "part-of: flux\n", "part-of: flux\n    app.kubernetes.io/instance: flux-system\n") +
			strings.Split(fluxChart, "-- clusters/eu/flux.yaml")[0], ""},
		{"nothing in Git", manifestsOf(remote+"v2.9.4") + strings.Split(fluxChart, "-- clusters/eu/flux.yaml")[0],
			"bootstrap/kustomization.yaml:2 unresolved  no object that Flux applies declares the cluster's Flux"},
		{"two instances", fluxInstance("bootstrap/flux.yaml", eu) + instance, "bootstrap/flux.yaml:1 agrees clusters/eu/flux.yaml:1"},
		{"defaults spelled out", fluxInstance("bootstrap/flux.yaml", eu+"  wait: true\n  components: [kustomize-controller, helm-controller, source-controller, notification-controller]\n  cluster: {networkPolicy: true}\n") + instance,
			"bootstrap/flux.yaml:1 agrees clusters/eu/flux.yaml:1"},
		{"a sync of another branch", fluxInstance("bootstrap/flux.yaml", strings.Replace(eu, "heads/main", "heads/next", 1)) + instance,
			"bootstrap/flux.yaml:1 drift clusters/eu/flux.yaml:1 spec.sync.ref=refs/heads/main(clusters/eu/flux.yaml:6)"},
		{"another Secret", fluxInstance("bootstrap/flux.yaml", strings.Replace(eu, "kind: Git", "pullSecret: key, kind: Git", 1)) + instance,
			"bootstrap/flux.yaml:1 drift clusters/eu/flux.yaml:1 spec.sync.pullSecret=<nil>(:0)"},
		{"a patch", fluxInstance("bootstrap/flux.yaml", eu+"  kustomize: {patches: [{patch: a, target: {kind: Deployment}}]}\n") + instance,
			"bootstrap/flux.yaml:1 drift clusters/eu/flux.yaml:1 spec.kustomize.patches=<nil>(:0)"},
		{"an example of another repository", fluxInstance("examples/flux.yaml", strings.Replace(eu, "clusters/eu", "clusters/us", 1)) + instance, ""},
		{"the chart with defaults", "-- bootstrap/helmfile.yaml --\nreleases:\n  - name: flux\n    namespace: flux-system\n    chart: oci://ghcr.io/controlplaneio-fluxcd/charts/flux-instance\n" +
			"    version: 0.58.0\n    values:\n      - instance:\n          distribution: {version: 2.9.5}\n          sync: {url: https://example.com/fleet.git, ref: refs/heads/main, path: ./clusters/eu}\n" + instance,
			"bootstrap/helmfile.yaml:2 agrees clusters/eu/flux.yaml:1"},
		{"a sync as flux bootstrap writes it", strings.NewReplacer("clusters/eu/all", "bootstrap/sync", "1m", "5m").Replace(strings.Split(fluxSources, "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCI")[0]) + fluxSources,
			"bootstrap/sync.yaml:6 agrees clusters/eu/all.yaml:6"},
		{"a sync of another branch by its source", strings.NewReplacer("clusters/eu/all", "bootstrap/sync", "branch: main", "branch: next").Replace(strings.Split(fluxSources, "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCI")[0]) + fluxSources,
			"bootstrap/sync.yaml:6 drift clusters/eu/all.yaml:6 source.ref.branch=main(clusters/eu/all.yaml:4)"},
		{"a template of a sync", strings.NewReplacer("clusters/eu/all", "tmpl/gotk-sync", "branch: main", "branch: '${BRANCH}'").Replace(strings.Split(fluxSources, "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCI")[0]) + fluxSources,
			""},
		{"what is meant", strings.Replace(manifestsOf(remote+"v2.9.4"), "v2.9.4", "v2.9.4 # fleetwright:ignore bootstrap-flux-drift the next image has it", 1) + instance,
			"bootstrap/kustomization.yaml:2 intended clusters/eu/flux.yaml:1 version=2.9.5(clusters/eu/flux.yaml:5)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(test.repo))), nil)
			if err != nil && test.want != "" {
				t.Fatal(err)
			}
			var got []string
			if report != nil {
				for _, f := range report.Flux {
					line := fmt.Sprintf("%s:%d %s %s", f.File, f.Line, f.Verdict, f.Git)
					for _, d := range f.Differences {
						line += fmt.Sprintf(" %s=%v(%s:%d)", d.Field, d.Git.Value, d.Git.File, d.Git.Line)
					}
					if f.Reason != "" {
						line += " " + f.Reason
					}
					got = append(got, line)
				}
			}
			if s := strings.Join(got, "\n"); s != test.want {
				t.Errorf("got\n%s\nwant\n%s", s, test.want)
			}
		})
	}
}

// TestInstanceDefaults holds the defaults that the operator's definition of a FluxInstance has.
func TestInstanceDefaults(t *testing.T) {
	file, err := os.Open("../../schemas/data/fluxcd.controlplane.io_v1_FluxInstance.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var definition struct{ Schema map[string]any }
	if err := json.NewDecoder(unpacked).Decode(&definition); err != nil {
		t.Fatal(err)
	}
	written := map[string]string{}
	var walk func(schema map[string]any, path []string)
	walk = func(schema map[string]any, path []string) {
		if value, ok := schema["default"]; ok {
			written[strings.Join(path, ".")] = fmt.Sprint(value)
		}
		properties, _ := schema["properties"].(map[string]any)
		for name, property := range properties {
			walk(property.(map[string]any), append(slices.Clone(path), name))
		}
	}
	spec, _ := helmrelease.FieldOf(definition.Schema, "properties", "spec").(map[string]any)
	walk(spec, nil)
	if len(written) < 9 {
		t.Fatalf("the definition has the defaults %v", written)
	}
	// What the operator's code makes of an absent field is in no schema.
	inCode := []string{"components", "cluster.tenantDefaultServiceAccount", "sync.name"}
	for _, each := range fluxinstall.InstanceDefaults {
		at := strings.Join(each.Path, ".")
		if want, has := written[at]; has && want != each.Object || !has && each.Object != "" && !slices.Contains(inCode, at) {
			t.Errorf("%s is %q by default, not %q", at, want, each.Object)
		}
		delete(written, at)
	}
	if len(written) > 0 {
		t.Errorf("the defaults %v are not known", written)
	}
}
