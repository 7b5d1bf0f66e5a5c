package reconcile

import (
	"strings"
	"testing"
)

// TestVariablesThatAreNotKnown: what a source of variables that isn't in Git may define, and what a
// parent puts into a child although nothing defines it, are unknown, and no text of the objects. So
// are the variables of a folder whose own Kustomization isn't in Git.
func TestVariablesThatAreNotKnown(t *testing.T) {
	const kustomization = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: NAME, namespace: flux-system}\n" +
		"spec: {path: ./NAME, prune: true, interval: 1h, sourceRef: {kind: GitRepository, name: fleet}, postBuild: BUILD}\n"
	of := func(file, name, build string) string {
		return "-- " + file + " --\n" + strings.NewReplacer("NAME", name, "BUILD", build).Replace(kustomization)
	}
	sync := strings.Replace(of("clusters/prod/sync.yaml", "flux-system", "{substitute: {}}"), "./flux-system", "./clusters/prod", 1) +
		"---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: flux-system}\nspec: {url: https://example.com/fleet}\n"
	const object = "-- apps/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: 'a-${CLUSTER}', namespace: a}\n"
	for _, c := range []struct{ name, files, want string }{
		{"defined", of("clusters/prod/apps.yaml", "apps", "{substitute: {CLUSTER: prod}}") + object, "a-prod"},
		{"without substitution", of("clusters/prod/apps.yaml", "apps", "{substitute: {}}") + object, "a-${CLUSTER}"},
		{"of a Secret that isn't in Git", of("clusters/prod/apps.yaml", "apps", "{substituteFrom: [{kind: Secret, name: vars}]}") + object, "a-${CLUSTER} unknown"},
		{"of one that needn't be there", of("clusters/prod/apps.yaml", "apps", "{substituteFrom: [{kind: Secret, name: vars, optional: true}]}") + object, "a-${CLUSTER} unknown"},
		{"of a parent that defines none", of("clusters/prod/more.yaml", "more", "{substitute: {OTHER: x}}") + of("more/apps.yaml", "apps", "{substitute: {CLUSTER: '${CLUSTER}'}}") + object, "a-${CLUSTER} unknown"},
		{"of a parent that defines it", of("clusters/prod/more.yaml", "more", "{substitute: {NAME: prod}}") + of("more/apps.yaml", "apps", "{substitute: {CLUSTER: '${NAME}'}}") + object, "a-prod"},
		{"of a folder that nothing says to sync", of("clusters/prod/apps.yaml", "apps", "{}") + strings.ReplaceAll(object, "apps/a.yaml", "clusters/prod/a.yaml") + object, "a-${CLUSTER} unknown a-${CLUSTER}"},
		{"with a default there", of("clusters/prod/apps.yaml", "none", "{}") + strings.NewReplacer("apps/a.yaml", "clusters/prod/a.yaml", "${CLUSTER}", "${CLUSTER:-${NAME}}").Replace(object), "a-${CLUSTER:-${NAME}} unknown"},
		{"disabled there", of("clusters/prod/apps.yaml", "none", "{}") + strings.NewReplacer("apps/a.yaml", "clusters/prod/a.yaml", "namespace: a", "namespace: a, labels: {kustomize.toolkit.fluxcd.io/substitute: disabled}").Replace(object), "a-${CLUSTER}"},
		{"of a folder that is synced", sync + strings.ReplaceAll(object, "apps/a.yaml", "clusters/prod/a.yaml"), "a-${CLUSTER}"},
	} {
		repo := parsed(t, c.files)
		fleet, err := Reconcile(t.Context(), repo, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range fleet.Clusters[0].Objects() {
			if o.Kind == "ConfigMap" {
				if got = append(got, o.Name); len(o.Unknown) > 0 {
					got = append(got, "unknown")
				}
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
