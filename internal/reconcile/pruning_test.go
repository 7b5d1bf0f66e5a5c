package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// keptIn is a Kustomization with some fields of its spec, and what it applies.
func keptIn(parent, name, spec, objects string) string {
	return fmt.Sprintf(`-- %[1]s/%[2]s.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[2]s, namespace: flux-system}
spec: {interval: 1h, path: %[2]s, sourceRef: {kind: GitRepository, name: flux-system}, %[3]s}
-- %[2]s/objects.yaml --
%[4]s`, parent, name, spec, objects)
}

func keptMap(name, metadata string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: a%s}\n---\n", name, metadata)
}

// What a change takes out is deleted or stays by what applied it, and by what is left of that.
func TestKept(t *testing.T) {
	own := keptMap("own", "")
	for _, c := range []struct{ name, before, after, want string }{
		{"pruned", keptIn("clusters/prod", "apps", "prune: true", own+keptMap("left", "")), keptIn("clusters/prod", "apps", "prune: true", own), "- left"},
		{"unpruned", keptIn("clusters/prod", "apps", "prune: true", own+keptMap("left", "")), keptIn("clusters/prod", "apps", "prune: false", own),
			"= left: Kustomization flux-system/apps has prune: false"},
		{"suspended", keptIn("clusters/prod", "apps", "prune: true", own+keptMap("left", "")), keptIn("clusters/prod", "apps", "prune: true, suspend: true", own),
			"= left: Kustomization flux-system/apps is suspended"},
		{"protected", keptIn("clusters/prod", "apps", "prune: true", own+keptMap("left", ", annotations: {kustomize.toolkit.fluxcd.io/prune: Disabled}")),
			keptIn("clusters/prod", "apps", "prune: true", own), "= left: kustomize.toolkit.fluxcd.io/prune is disabled for it"},
		{"protected by a label", keptIn("clusters/prod", "apps", "prune: true", own+keptMap("left", ", labels: {kustomize.toolkit.fluxcd.io/ssa: ignore}")),
			keptIn("clusters/prod", "apps", "prune: true", own), "= left: kustomize.toolkit.fluxcd.io/ssa is Ignore for it"},
		{"the Kustomization", keptIn("clusters/prod", "apps", "prune: true", own), "", "- apps, - own"},
		{"the Kustomization without prune", keptIn("clusters/prod", "apps", "prune: false", own), "", "- apps, = own: Kustomization flux-system/apps is removed with prune: false"},
		{"Orphan", keptIn("clusters/prod", "apps", "prune: true, deletionPolicy: Orphan", own), "",
			"- apps, = own: Kustomization flux-system/apps is removed with deletionPolicy: Orphan"},
		{"Delete", keptIn("clusters/prod", "apps", "prune: false, deletionPolicy: Delete", own), "", "- apps, - own"},
		{"WaitForTermination", keptIn("clusters/prod", "apps", "prune: false, deletionPolicy: WaitForTermination", own), "", "- apps, - own"},
		{"MirrorPrune", keptIn("clusters/prod", "apps", "prune: false, deletionPolicy: MirrorPrune", own), "",
			"- apps, = own: Kustomization flux-system/apps is removed with prune: false"},
		{"gone while suspended", keptIn("clusters/prod", "apps", "prune: true, suspend: true", own), "",
			"- apps, = own: Kustomization flux-system/apps is removed while it is suspended"},
		{"nested", keptIn("clusters/prod", "outer", "prune: true, deletionPolicy: Orphan", own) + keptIn("outer", "inner", "prune: true", keptMap("left", "")), "",
			"- outer, = inner: Kustomization flux-system/outer is removed with deletionPolicy: Orphan, " +
				"= left: Kustomization flux-system/inner is kept: Kustomization flux-system/outer is removed with deletionPolicy: Orphan, " +
				"= own: Kustomization flux-system/outer is removed with deletionPolicy: Orphan"},
		{"moved", keptIn("clusters/prod", "apps", "prune: true, deletionPolicy: Orphan", own), keptIn("clusters/prod", "other", "prune: true", own), "- apps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const stays = "-- clusters/prod/stays.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: stays, namespace: a}\n"
			from, to := reconciled(t, stays+c.before, ""), reconciled(t, stays+c.after, "")
			if got := strings.Join(toldGone(from, to), ", "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// toldGone is what is removed and what is kept, by name.
func toldGone(from, to *Cluster) []string {
	var removed, kept []string
	for _, d := range Compare(&Fleet{Clusters: []*Cluster{from}}, &Fleet{Clusters: []*Cluster{to}}) {
		for _, o := range d.Removed {
			removed = append(removed, "- "+o.Name)
		}
		for _, o := range d.Kept {
			kept = append(kept, "= "+o.Name+": "+o.Why)
		}
	}
	slices.Sort(removed)
	slices.Sort(kept)
	return append(removed, kept...)
}

// What a chart rendered goes with its release, or with the template, except for what Helm keeps.
func TestKeptByReleases(t *testing.T) {
	chart := strings.Replace(greeter("charts/greeter", "1.0.0"), "metadata: {name: wide}", "metadata: {name: wide, annotations: {helm.sh/resource-policy: \" Keep\"}}", 1)
	crds := "= things.example.com: it is in the crds folder of its chart, and Helm never deletes CRDs"
	const wide = "= wide: it has helm.sh/resource-policy: keep"
	values, _, _ := strings.Cut(chart, "-- charts/greeter/crds/thing.yaml --\n")
	fewer := values + "-- charts/greeter/templates/all.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n"
	for _, c := range []struct{ name, before, after, want string }{
		{"a release", ownChart, "", "- hi, - hi, " + crds + ", " + wide},
		{"a suspended release", ownChart + "  suspend: true\n", "",
			"- hi, = hi: HelmRelease flux-system/hi is removed while it is suspended, " + crds + ", " + wide},
		{"a template", ownChart, ownChart + "  values: {}\n", "- hi, " + crds + ", " + wide},
		{"a release that stays", ownChart, ownChart + "  suspend: true\n", "= hi: HelmRelease flux-system/hi is suspended, " + crds + ", " + wide},
	} {
		t.Run(c.name, func(t *testing.T) {
			after := fewer
			if c.after != "" {
				after += release(c.after)
			}
			from, to := reconciled(t, release(c.before)+chart, ""), reconciled(t, after, "")
			if got := strings.Join(toldGone(from, to), ", "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
