package roots_test

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestVariablesOfGuessedRoots: a folder that fits the path of a Kustomization with variables tells their values.
func TestVariablesOfGuessedRoots(t *testing.T) {
	const sync = "-- sync/team.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: team, namespace: flux-system}\nspec: {interval: 1h, prune: true, path: './team/${ENV}/${ID}', sourceRef: {kind: GitRepository, name: fleet}, postBuild: {substitute: {A: b, C: '${D}-c'}, substituteFrom: [{kind: ConfigMap, name: vars}]}}\n"
	const apps = "-- team/base/kustomization.yaml --\nresources: [apps.yaml]\n-- team/base/apps.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec: {interval: 1h, prune: true, path: './apps/${ENV}', sourceRef: {kind: GitRepository, name: fleet}}\n" +
		"-- team/dev/01/kustomization.yaml --\nresources: [../../base]\n-- apps/dev/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for name, c := range map[string]struct{ files, want string }{
		"one fits":                   {sync, "A=b ENV=dev ID=01"},
		"none":                       {"", ""},
		"given in the Kustomization": {strings.Replace(sync, "A: b,", "A: b, ENV: production,", 1), "A=b ENV=production ID=01"},
		"passed on":                  {strings.Replace(sync, "A: b, C: '${D}-c'}, substituteFrom: [{kind: ConfigMap, name: vars}]", "A: b, ENV: '${ENV}'}", 1), "A=b ENV=dev"},
		"not passed on":              {strings.Replace(sync, ", C: '${D}-c'}, substituteFrom: [{kind: ConfigMap, name: vars}]", "}", 1), "A=b"},
		"from a ConfigMap in Git":    {sync + "-- sync/vars.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: vars, namespace: flux-system}\ndata: {ENV: production}\n", ""},
		"a function":                 {strings.Replace(sync, "${ENV}", "${ENV,,}", 1), ""},
		"a default":                  {strings.Replace(sync, "${ENV}", "${ENV:=dev}", 1), "A=b ENV=dev ID=01"},
		"two in one element":         {strings.ReplaceAll(strings.Replace(sync, "${ENV}/${ID}", "${ENV}-${ID}", 1), "team/dev/01", "team/dev-01"), ""},
		"suspended":                  {strings.Replace(sync, "spec: {", "spec: {suspend: true, ", 1), ""},
		"an example":                 {strings.Replace(sync, "sync/team.yaml", "examples/team.yaml", 1), ""},
		"in its own folder":          {strings.Replace(sync, "sync/team.yaml", "team/dev/01/team.yaml", 1), ""},
		"a base":                     {strings.Replace(sync, "./team/${ENV}/${ID}", "./${ENV}/dev/01", 1), "A=b ENV=team"},
		"a variable twice":           {strings.Replace(sync, "${ENV}/${ID}", "${ENV}/${ENV}", 1), ""},
		"two fit":                    {sync + strings.NewReplacer("team.yaml", "other.yaml", "name: team", "name: other").Replace(sync), ""},
		"of another source":          {strings.ReplaceAll(sync, "name: fleet", "name: other"), ""},
		"without postBuild":          {strings.Replace(sync, ", postBuild: {substitute: {A: b, C: '${D}-c'}, substituteFrom: [{kind: ConfigMap, name: vars}]}", "", 1), ""},
		"nothing gives the variable": {strings.Replace(sync, ", substituteFrom: [{kind: ConfigMap, name: vars}]", "", 1), ""},
		"all of it a variable":       {strings.Replace(sync, "./team/${ENV}/${ID}", "${PATH}", 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			found := roots.Find(ruletest.Load(t, apps+c.files), nil)
			var got []string
			for _, r := range found {
				if r.Path != "team/dev/01" {
					continue
				}
				if by := r.Spec.PostBuild; by != nil {
					for _, name := range []string{"A", "C", "ENV", "ID"} {
						if by.Substitute[name] != "" {
							got = append(got, name+"="+by.Substitute[name])
						}
					}
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %v, want %s, of %+v", got, c.want, found)
			}
		})
	}
}
