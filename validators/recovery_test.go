package validators

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestRecovery: an entry that fails hides none of its neighbours, is told once, and what follows from it is not told
// again.
func TestRecovery(t *testing.T) {
	const (
		apps = "-- clusters/prod/apps.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n" +
			"spec: {interval: 1h, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n"
		sub = "-- apps/ks.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: sub, namespace: flux-system}\n" +
			"spec: {interval: 1h, path: ./sub, prune: true, postBuild: {substitute: {A: b}}, sourceRef: {kind: GitRepository, name: flux-system}}\n"
		// wrong has a field that the API server does not know.
		wrong = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wrong, namespace: flux-system}\ndate: {}\n"
	)
	for name, c := range map[string]struct{ files, want string }{
		"one missing file": {"-- apps/kustomization.yaml --\nresources:\n- a.yaml\n- bs.yaml\n-- apps/a.yaml --\n" + wrong,
			"apps/a.yaml:4 schema-unknown-field; apps/kustomization.yaml:3 flux-build-failed"},
		"several, at several levels": {"-- apps/kustomization.yaml --\nresources:\n- a\n- bs.yaml\ncomponents:\n- nowhere\n-- apps/a/kustomization.yaml --\nresources:\n- none.yaml\n- a.yaml\n-- apps/a/a.yaml --\n" + wrong,
			"apps/a/a.yaml:4 schema-unknown-field; apps/a/kustomization.yaml:2 flux-build-failed; apps/kustomization.yaml:3 flux-build-failed; apps/kustomization.yaml:5 flux-build-failed"},
		"a folder without a kustomization": {"-- apps/kustomization.yaml --\nresources:\n- a.yaml\n- b\n-- apps/a.yaml --\n" + wrong + "-- apps/b/notes.txt --\n",
			"apps/a.yaml:4 schema-unknown-field; apps/kustomization.yaml:3 flux-build-failed"},
		"beside a remote base": {"-- apps/kustomization.yaml --\nresources:\n- https://example.com/base?ref=v1\n- a.yaml\n- bs.yaml\n-- apps/a.yaml --\n" + wrong,
			"apps/a.yaml:4 schema-unknown-field; apps/kustomization.yaml:2 flux-remote-base; apps/kustomization.yaml:4 flux-build-failed"},
		"a patch of a remote base": {"-- apps/kustomization.yaml --\nresources:\n- https://example.com/base?ref=v1\n- a.yaml\npatches:\n- patch: |\n    apiVersion: v1\n    kind: Service\n    metadata: {name: there}\n-- apps/a.yaml --\n" + wrong,
			"apps/a.yaml:4 schema-unknown-field; apps/kustomization.yaml:2 flux-remote-base"},
		"a reference to what is missing": {"-- apps/kustomization.yaml --\nresources:\n- bs.yaml\n- a.yaml\n-- apps/a.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: flux-system}\n" +
			"spec: {interval: 1h, chart: {spec: {chart: x, version: 1.0.0, sourceRef: {kind: HelmRepository, name: of-bs}}}}\n",
			"apps/kustomization.yaml:2 flux-build-failed"},
		"a file that is no YAML": {"-- apps/kustomization.yaml --\nresources:\n- a.yaml\n- b.yaml\n-- apps/a.yaml --\n" + wrong + "-- apps/b.yaml --\n" + wrong + "---\nkind: [\n",
			"apps/a.yaml:4 schema-unknown-field; apps/b.yaml:4 schema-unknown-field; apps/b.yaml:6 schema-invalid"},
		"a document that is no YAML": {"-- apps/a.yaml --\n" + wrong + "-- apps/b.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: *b}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: flux-system}\n",
			"apps/a.yaml:4 schema-unknown-field; apps/b.yaml:3 schema-invalid"},
		"a nested kustomization of one remote file": {"-- apps/kustomization.yaml --\nresources:\n- a.yaml\n- b\n-- apps/a.yaml --\n" + wrong + "-- apps/b/kustomization.yaml --\nresources:\n- https://example.com/b.yaml\n",
			"apps/a.yaml:4 schema-unknown-field; apps/b/kustomization.yaml:2 flux-remote-base"},
		"a nested kustomization of wrong types": {"-- apps/kustomization.yaml --\nresources:\n- a.yaml\n- b\n-- apps/a.yaml --\n" + wrong + "-- apps/b/kustomization.yaml --\nresources: {}\n",
			"apps/a.yaml:4 schema-unknown-field; apps/b/kustomization.yaml:1 schema-invalid"},
		"a missing patch of one kind": {"-- apps/kustomization.yaml --\nresources:\n- a.yaml\n- b.yaml\npatches:\n- path: p.yaml\n  target: {kind: Secret}\n-- apps/a.yaml --\n" + wrong + "-- apps/b.yaml --\n" + strings.NewReplacer("ConfigMap", "Secret", "wrong", "b").Replace(wrong),
			"apps/a.yaml:4 schema-unknown-field; apps/b.yaml:4 schema-unknown-field; apps/kustomization.yaml:5 flux-build-failed"},
		"a missing patch of any object": {"-- apps/kustomization.yaml --\nresources:\n- a.yaml\n- ks.yaml\npatches:\n- path: p.yaml\n-- apps/a.yaml --\n" + wrong + sub + "-- sub/a.yaml --\n" + wrong + "data: {a: '${DEFINED_BY_THE_PATCH}'}\n",
			"apps/a.yaml:4 schema-unknown-field; apps/kustomization.yaml:5 flux-build-failed; sub/a.yaml:4 schema-unknown-field"},
		"a missing component": {"-- apps/kustomization.yaml --\nresources:\n- a.yaml\n- ks.yaml\ncomponents:\n- none\n-- apps/a.yaml --\n" + wrong + sub + "-- sub/a.yaml --\n" + wrong,
			"apps/a.yaml:4 schema-unknown-field; apps/kustomization.yaml:5 flux-build-failed; sub/a.yaml:4 schema-unknown-field"},
		"a patch of nothing, and a file that is missing": {"-- apps/kustomization.yaml --\nresources:\n- a.yaml\n- b.yaml\npatches:\n- patch: |\n    apiVersion: v1\n    kind: Service\n    metadata: {name: there}\n-- apps/a.yaml --\n" + wrong,
			"apps/a.yaml:4 schema-unknown-field; apps/kustomization.yaml:3 flux-build-failed"},
		"two patches of nothing": {"-- apps/kustomization.yaml --\nresources:\n- a.yaml\npatches:\n- patch: |\n    apiVersion: v1\n    kind: Service\n    metadata: {name: there}\n- target: {name: '['}\n  patch: |\n    - op: add\n      path: /a\n      value: b\n-- apps/a.yaml --\n" + wrong,
			"apps/a.yaml:4 schema-unknown-field; apps/kustomization.yaml:4 flux-build-failed; apps/kustomization.yaml:8 flux-build-failed"},
		"the Flux Kustomization's own patch": {strings.Replace(apps, "prune: true", "patches: [{patch: \"{apiVersion: v1, kind: Service, metadata: {name: there}}\"}], prune: true", 1) + "-- apps/a.yaml --\n" + wrong,
			"apps/a.yaml:4 schema-unknown-field; clusters/prod/apps.yaml:4 flux-build-failed"},
		"an object twice": {"-- apps/kustomization.yaml --\nresources:\n- a.yaml\n- b.yaml\n- a.yaml\n- c\n-- apps/a.yaml --\n" + wrong + "-- apps/b.yaml --\n" + wrong + "-- apps/c/kustomization.yaml --\nresources: [none.yaml]\n",
			"apps/a.yaml:4 schema-unknown-field; apps/b.yaml:4 schema-unknown-field; apps/c/kustomization.yaml:1 flux-build-failed; apps/kustomization.yaml:3 flux-build-failed; apps/kustomization.yaml:4 flux-build-failed"},
		"a generator's file": {"-- apps/kustomization.yaml --\nresources:\n- a.yaml\nconfigMapGenerator:\n- name: b\n  files:\n  - none.txt\n-- apps/a.yaml --\n" + wrong + "-- apps/c.yaml --\n",
			"apps/a.yaml:4 schema-unknown-field; apps/kustomization.yaml:6 flux-build-failed"},
		"an unknown field further down": {"-- apps/kustomization.yaml --\nresources:\n- a.yaml\n- b\n-- apps/a.yaml --\n" + wrong + "-- apps/b/kustomization.yaml --\nresource: [none.yaml]\n",
			"apps/a.yaml:4 schema-unknown-field; apps/b/kustomization.yaml:1 schema-unknown-field"},
		"variables that cannot be read": {strings.Replace(apps, "prune: true", "postBuild: {substitute: {A: b}}, prune: true", 1) + "-- apps/a.yaml --\n" + wrong + "-- apps/b.yaml --\n" + strings.Replace(wrong, "wrong", "b", 1) + "data:\n  a: ${A\n-- apps/c.yaml --\n" + strings.Replace(wrong, "wrong", "c", 1) + "data:\n  a: ${A\n",
			"apps/a.yaml:4 schema-unknown-field; apps/b.yaml:4 schema-unknown-field; apps/b.yaml:6 flux-build-failed; apps/c.yaml:4 schema-unknown-field; apps/c.yaml:6 flux-build-failed"},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := Run(t.Context(), ruletest.Load(t, rule.FluxSync+apps+c.files), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range report.Findings {
				got = append(got, fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Rule))
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("got\n%s\nwant\n%s\n%v", text, c.want, report.Findings)
			}
		})
	}
}
