//go:build hostile && unix

package main

import (
	"strings"
)

// bootstrapBombs are templates of helmfiles and ResourceSets that take long, or much memory, and that
// nothing counts. The file is not evaluated, and one beside it is.
func bootstrapBombs() []hostileCase {
	const beside = "releases: [{name: other, namespace: b, chart: x/other, version: '{{ upper \"v1\" }}'}]\n"
	helmfile := func(name, text string) hostileCase {
		return hostileCase{name: "a helmfile with " + name, runs: []string{"bootstrap verify"}, make: files(map[string]string{
			"one/helmfile.yaml": "releases:\n  - name: a\n    namespace: n\n    chart: x/a\n    version: '" + text + "'\n",
			"two/helmfile.yaml": beside,
			"hr.yaml":           "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: other, namespace: b}\nspec: {chart: {spec: {chart: other, version: V1}}}\n",
		}), want: []string{"one/helmfile.yaml", "as hr.yaml:1"}}
	}
	const deep = `{{ $x := list }}{{ range 10000000 }}{{ $x = list $x }}{{ end }}{{ $x }}`
	sets := app("ResourceSets with an endless loop", map[string]string{"a.yaml": "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: a, namespace: a}\nspec:\n  resourcesTemplate: |\n    << range $i := until 8000 >><< range until 900000 >><< end >><< end >>\n",
		"helmfile.yaml": beside}, "the template repeats its parts more than 1000000 times")
	return []hostileCase{
		sets,
		helmfile("an endless loop", `{{ range 1000000000000 }}{{ end }}`),
		helmfile("nested loops", strings.Repeat(`{{ range 1000 }}`, 8)+strings.Repeat(`{{ end }}`, 8)),
		helmfile("wide numbers", `{{ range 1000000 }}{{ $x := printf "%900000d%900000d%900000d" 1 1 1 }}{{ end }}`),
		helmfile("lists that double", `{{ $x := list 1 }}`+strings.Repeat(`{{ $x = list $x $x }}`, 64)+`{{ $x }}`),
		helmfile("lists that double, as JSON", `{{ $x := list 1 }}`+strings.Repeat(`{{ $x = list $x $x }}`, 64)+`{{ toJson $x }}`),
		helmfile("marks that double", `{{ $x := list (env "A") }}`+strings.Repeat(`{{ $x = list $x $x }}`, 64)+`{{ ternary $x $x (env "A") }}`),
		helmfile("a pattern that repeats", `{{ range 100000 }}{{ $x := regexMatch "(a{1,30}){1,30}$" (repeat 10000 "a") }}{{ end }}`),
		helmfile("a comparison of all", `{{ until 100000 | uniq | len }}{{ until 1000000 | uniq | len }}`),
		helmfile("lists in each other", deep),
		helmfile("lists in each other, as JSON", strings.Replace(deep, "{{ $x }}", "{{ toJson $x }}", 1)),
		// Whether the map comes to hold itself depends on the order in which its fields are merged: one of two does.
		helmfile("a map in itself, merged", `{{ range until 30 }}{{ $q := dict }}{{ $m := dict }}{{ $d := dict "a" $m "b" $m }}`+
			`{{ $_ := mergeOverwrite $d (dict "a" (dict "x" $q) "b" (dict "x" (dict "y" $q))) }}{{ $y := print $d }}{{ end }}`),
		helmfile("templates that include two", `{{ define "a" }}{{ if lt (len .) 45 }}{{ include "a" (printf "%sx" .) }}{{ include "a" (printf "%sx" .) }}{{ end }}{{ end }}{{ include "a" "x" }}`),
	}
}
