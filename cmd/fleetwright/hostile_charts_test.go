//go:build hostile && unix

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// eitherWay is in each report: whether a guard or the library ends the work, or it comes to its end, is up to the machine.
const eitherWay = "HelmRelease"

// hostileTemplates are repeated in releases of their own: each costs what it may.
var hostileTemplates = map[string]string{
	"loops":     `{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}`,
	"recursion": `{{ define "a" }}{{ template "a" . }}{{ template "a" . }}{{ end }}{{ template "a" . }}`,
	"text":      `{{ $x := "xxxxxxxxxxxxxxxx" }}{{ range until 60 }}{{ $x = printf "%s%s" $x $x }}{{ end }}{{ $x }}`,
	"itself":    `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toYaml $d }}{{ $d }}`,
	"nearly":    `{{ range until 3000 }}{{ range until 3000 }}{{ end }}{{ end }}`,
	"output":    `a: [{{ repeat 7000000 "," }}]`,
	"aliases":   "a: " + laughs(9),
}

// hostileCharts are charts that cost much, read elsewhere, or want to start something.
func hostileCharts() []hostileCase {
	const chart = "apiVersion: v2\nname: c\nversion: 1.0.0\n"
	bomb := laughs(9)
	all := templateBombs()
	for name, text := range hostileTemplates {
		want := "[limit-exceeded]"
		switch name {
		case "aliases":
			want = "[flux-helm-failed]" // Flux refuses them, too
		case "recursion", "nearly":
			want = eitherWay
		}
		all = append(all, hostileCase{name: "charts of " + name, want: []string{want}, make: func(t *testing.T, repo, _ string) {
			var releases strings.Builder
			releases.WriteString(fluxKs("app", ""))
			for i := range 30 {
				at := fmt.Sprintf("charts/c%d", i)
				releases.WriteString(hostileRelease(fmt.Sprintf("r%d", i), at, fmt.Sprintf("  values: {a: %d}\n", i)))
				putFile(t, filepath.Join(repo, at, "Chart.yaml"), []byte(chart))
				putFile(t, filepath.Join(repo, at, "templates/a.yaml"), []byte(text))
			}
			putFile(t, filepath.Join(repo, "clusters/one/ks.yaml"), []byte(releases.String()))
			putFile(t, filepath.Join(repo, "app/a.yaml"), []byte(configMap("a", "  b: c\n")))
		}})
	}
	return append(all,
		hostileCase{name: "aliases in a chart", want: []string{"[flux-helm-failed]"}, make: files(map[string]string{
			"clusters/one/ks.yaml": fluxKs("app", "") + hostileRelease("a", "charts/a", "") +
				hostileRelease("c", "charts/c", "") + hostileRelease("d", "charts/d", "  valuesFrom: [{kind: ConfigMap, name: bomb}]\n") +
				"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb, namespace: flux-system}\ndata:\n  values.yaml: |\n    " + bomb + "\n",
			"app/a.yaml":          configMap("a", "  b: c\n"),
			"charts/a/Chart.yaml": chart, "charts/a/values.yaml": bomb, "charts/c/Chart.yaml": chart + "annotations: " + bomb + "\n",
			"charts/d/Chart.yaml": chart, "charts/d/crds/a.yaml": bomb,
		})},
		hostileCase{name: "charts that look around", want: []string{`there is no values file`, `the dependency "x": there is no chart`, `function "env" not defined`}, make: lookAround},
		hostileCase{name: "archives of charts", want: []string{"outside of the chart's folder", "larger than"}, make: hostilePackages},
	)
}

// templateBombs would take for ever, all memory, or the process with them: only a measured bound ends
// them, or what counts before a function runs.
func templateBombs() []hostileCase {
	const itself = `{{ $d := dict }}{{ $_ := set $d "d" $d }}`
	doubling := `{{ define "z0" }}{{ end }}`
	for i := range 40 {
		doubling += fmt.Sprintf(`{{ define "z%d" }}{{ template "z%d" }}{{ template "z%d" }}{{ end }}`, i+1, i, i)
	}
	var all []hostileCase
	for name, text := range map[string]string{
		"twice each level":     `{{ define "a" }}{{ if gt (int .n) 0 }}{{ $d := dict "n" (sub (int .n) 1) }}{{ template "a" $d }}{{ template "a" $d }}{{ end }}{{ end }}{{ template "a" dict "n" 60 }}`,
		"twice without output": doubling + `{{ template "z40" }}`,
		"includes":             `{{ define "a" }}{{ range until 1000 }}{{ include "b" $ }}{{ end }}{{ end }}{{ define "b" }}{{ range until 1000 }}{{ end }}{{ end }}{{ range until 1000 }}{{ include "a" $ }}{{ end }}`,
		"tpl of tpl":           `{{ $t := "{{ tpl .t . }}" }}{{ tpl $t (dict "t" $t) }}`,
		"trees":                `{{ range 1000000 }}{{ tpl "{{ define \"x\" }}{{ if 1 }}y{{ end }}{{ end }}" $ }}{{ end }}`,
		"parsed by tpl":        `{{ tpl (repeat 6000000 "{{ if 1 }}") . }}`,
		"range of a number":    `{{ range 100000000000 }}{{ end }}`,
		"numbers":              `{{ untilStep 0 2000000000 1 | len }}`,
		"numbers that wrap":    `{{ untilStep 9000000000000000000 9223372036854775807 5000000000000000000 | len }}`,
		"seq":                  `{{ seq 1 1 2000000000 | len }}`,
		"repeat":               `{{ repeat 70000000000000 "x" | len }}`,
		"replace":              `{{ $x := repeat 10000000 "x" }}{{ replace "x" $x $x | len }}`,
		"join":                 `{{ $x := repeat 10000000 "x" }}{{ $l := list $x }}{{ range until 20 }}{{ $l = concat $l $l }}{{ end }}{{ join "" $l | len }}`,
		"doubling list":        `{{ $x := list 1 2 3 4 }}{{ range until 60 }}{{ $x = concat $x $x }}{{ end }}{{ len $x }}`,
		"doubling include":     `{{ define "a" }}{{ . }}{{ . }}{{ end }}{{ $x := "xxxxxxxx" }}{{ range until 60 }}{{ $x = include "a" $x }}{{ end }}{{ len $x }}`,
		"widths":               `{{ printf (repeat 2000 "%999999d")` + strings.Repeat(" 1", 2000) + ` | len }}`,
		"wrapping":             `{{ wrapWith 1 (repeat 1000000 "x") (repeat 1000 "a ") | len }}`,
		"itself printed":       itself + `{{ $d }}`,
		"itself compared":      itself + `{{ eq $d $d }}`,
		"itself not compared":  itself + `{{ ne $d $d }}`,
		"itself quoted":        itself + `{{ quote $d | len }}`,
		"itself joined":        itself + `{{ join "," (list $d) | len }}`,
		"itself as HTML":       itself + `{{ html $d }}`,
		"itself as TOML":       itself + `{{ toToml $d | len }}`,
		"itself copied":        itself + `{{ deepCopy $d | len }}`,
		"itself merged":        `{{ $d := dict "a" (dict) }}{{ $_ := set $d.a "d" $d }}{{ mergeOverwrite $d (deepCopy $d) $d | len }}`,
		"deep list":            `{{ $l := list 1 }}{{ range until 100000 }}{{ $l = list $l }}{{ end }}{{ $l }}`,
		"laughs":               `{{ $d := dict "a" 1 }}{{ range until 60 }}{{ $d = dict "a" $d "b" $d }}{{ end }}{{ toJson $d | len }}`,
		"laughs printed":       `{{ $d := dict "a" 1 }}{{ range until 60 }}{{ $d = dict "a" $d "b" $d }}{{ end }}{{ $d }}`,
		"sorting":              `{{ $x := until 10000 }}{{ range until 10000 }}{{ $_ := uniq $x }}{{ end }}`,
		"passwords":            `{{ range until 10000 }}{{ derivePassword 1 "long" "a" "b" "c" }}{{ end }}`,
		"random":               `{{ range 100000 }}{{ randAlphaNum 100000 | len }}{{ end }}`,
		"regular results":      `{{ $x := repeat 1000000 "a" }}{{ range until 1000 }}{{ regexFindAll "" $x -1 | len }}{{ end }}`,
		"glob":                 `{{ range 1000000 }}{{ len ($.Files.Glob "**a**b**c**") }}{{ end }}`,
		"files":                `{{ range 100000000 }}{{ len $.Files.AsSecrets }}{{ len ($.Files.Lines "big") }}{{ end }}`,
		"large output":         `{{ $x := repeat 1000000 "x\n" }}{{ range 1000 }}{{ $x }}{{ end }}`,
		"documents":            `{{ range 5000000 }}---` + "\n" + `a: b` + "\n" + `{{ end }}`,
		"deep in recursion":    `{{ define "a" }}` + strings.Repeat(`{{ if 1 }}`, 150) + `{{ template "a" }}` + strings.Repeat(`{{ end }}`, 150) + `{{ end }}{{ template "a" }}`,
	} {
		bomb := releaseBomb("template: "+name, map[string]string{"templates/a.yaml": text, "big": strings.Repeat("a\n", 500_000)})
		if name == "glob" {
			bomb.want = []string{eitherWay}
		}
		all = append(all, bomb)
	}
	return append(append(all, chartBombs()...), budgetBombs()...)
}

// chartBombs take long before a template runs.
func chartBombs() []hostileCase {
	alias := "apiVersion: v2\nname: sub\nversion: 1.0.0\ndependencies:\n"
	for i := range 60 {
		alias += fmt.Sprintf("  - {name: sub, version: '*', alias: a%d}\n", i)
	}
	var levels strings.Builder
	for i := range 40 {
		fmt.Fprintf(&levels, `"d%d": {"anyOf": [{"$ref": "#/definitions/d%d"}, {"$ref": "#/definitions/d%d"}]},`, i+1, i, i)
	}
	return []hostileCase{
		releaseBomb("parentheses of tpl", map[string]string{"templates/a.yaml": `{{ tpl (printf "{{ %s" (repeat 3000000 "(")) . }}`}, "[limit-exceeded]"),
		releaseBomb("aliases of dependencies", map[string]string{"Chart.yaml": alias, "charts/sub/Chart.yaml": alias,
			"charts/sub/charts/sub/Chart.yaml": alias, "charts/sub/charts/sub/charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n"}, eitherWay),
		releaseBomb("doubling schema of values", map[string]string{
			"values.schema.json": `{"definitions": {` + levels.String() + `"d0": {"type": "string"}}, "$ref": "#/definitions/d40"}`}, "[limit-exceeded]"),
		releaseBomb("doubling schema of values, 2020", map[string]string{
			"values.schema.json": `{"$schema": "https://json-schema.org/draft/2020-12/schema", "definitions": {` + levels.String() + `"d0": {"required": ["x"]}}, "$ref": "#/definitions/d40"}`}, "[limit-exceeded]"),
	}
}

// budgetBombs have units that cost nothing to write down, and would have larger bounds by their number, or
// names that a message or the next image of the process has no room for.
func budgetBombs() []hostileCase {
	nested := `{{ $d := dict }}{{ range $i := until 100000 }}{{ range $j := until 100000 }}{{ $_ := set $d (printf "%d-%d" $i $j) (list $i $j) }}{{ end }}{{ end }}`
	chart := map[string]string{"charts/c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n", "charts/c/templates/a.yaml": nested}
	with := func(more map[string]string) func(*testing.T, string, string) {
		maps.Copy(more, chart)
		return files(more)
	}
	several := repeat(20, func(i int) string {
		return strings.Replace(fluxKs(fmt.Sprint("k", i), fmt.Sprintf("  targetNamespace: n%d\n", i)), fmt.Sprint("./k", i), "./app", 1)
	})
	bursts := releaseBomb("bursts of a template", map[string]string{"templates/a.yaml": `{{ regexReplaceAll "" (repeat 8000000 "x") (repeat 8000000 "x") | len }}`})
	const forged = "\n::error::forged\x1b[31m"
	long := strings.Repeat("a", 140_000)
	return []hostileCase{
		bursts,
		{name: "a release for many Kustomizations", want: []string{"[limit-exceeded]"}, make: with(map[string]string{
			"clusters/one/ks.yaml": several, "app/a.yaml": repeat(300, func(i int) string { return hostileRelease(fmt.Sprint("r", i), "charts/c", "") }),
		})},
		{name: "a release of a long name", want: []string{"HelmRelease flux-system/aaaa", "… (140", "[limit-exceeded]"}, make: with(map[string]string{
			"clusters/one/ks.yaml": fluxKs("app", "") + hostileRelease(long, "charts/c", ""), "app/a.yaml": configMap("a", "  b: c\n"),
		})},
		{name: "a release of a forged name", want: []string{"[limit-exceeded]"}, make: with(map[string]string{
			"clusters/one/ks.yaml": fluxKs("app", "") + hostileRelease(fmt.Sprintf("%q", forged+long), "charts/c", "  releaseName: a\n"), "app/a.yaml": configMap("a", "  b: c\n"),
		})},
	}
}

// releaseBomb is a release of a chart of some files that is not rendered, and told by a rule.
func releaseBomb(name string, chart map[string]string, rule ...string) hostileCase {
	contents := map[string]string{
		"clusters/one/ks.yaml": fluxKs("app", "") + hostileRelease("r", "charts/c", ""), "app/a.yaml": configMap("a", "  b: c\n"),
		"charts/c/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n",
	}
	for file, content := range chart {
		contents["charts/c/"+file] = content
	}
	if rule == nil {
		rule = []string{"HelmRelease flux-system/r", "[limit-exceeded]"}
	}
	return hostileCase{name: name, want: rule, make: files(contents)}
}

// lookAround writes charts that read files outside, the environment and the network.
func lookAround(t *testing.T, repo, outside string) {
	put := func(name, content string) { putFile(t, filepath.Join(repo, name), []byte(content)) }
	secret := filepath.Join(outside, "secret.yaml")
	up := "../../../outside/secret.yaml"
	put("clusters/one/ks.yaml", fluxKs("app", "")+hostileRelease("a", "charts/a", "")+hostileRelease("b", "charts/b", "")+
		hostileRelease("c", "../../outside", "")+hostileRelease("d", outside, "")+hostileRelease("e", "charts/linked", "")+
		strings.Replace(hostileRelease("f", "charts/a", ""), "      sourceRef", "      valuesFiles: ["+up+", "+secret+"]\n      sourceRef", 1)+
		hostileRelease("g", "charts/g", "")+hostileRelease("h", "charts/h", ""))
	put("app/a.yaml", configMap("a", "  b: c\n"))
	put("charts/a/Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n")
	put("charts/a/templates/a.yaml", fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: {{ .Files.Get %q | quote }}\n  b: {{ .Files.Get %q | quote }}\n"+
		"  c: {{ getHostByName \"example.com\" | quote }}\n  d: {{ (.Files.Glob \"/**\").AsConfig | quote }}\n", secret, up))
	if err := os.Symlink(secret, filepath.Join(repo, "charts/a/linked.yaml")); err != nil {
		t.Fatal(err)
	}
	put("charts/b/Chart.yaml", "apiVersion: v2\nname: b\nversion: 1.0.0\n")
	put("charts/b/values.schema.json", fmt.Sprintf(`{"allOf": [{"$ref": "file://%s"}, {"$ref": %q}, {"$ref": "https://example.com/a.json"}]}`, secret, up))
	if err := os.Symlink(outside, filepath.Join(repo, "charts/linked")); err != nil {
		t.Fatal(err)
	}
	put("charts/g/Chart.yaml", "apiVersion: v2\nname: g\nversion: 1.0.0\ndependencies:\n  - {name: x, version: '*', repository: 'file://../../../outside'}\n"+
		"  - {name: y, version: '*', repository: 'file://"+outside+"'}\n  - {name: z, version: '*', repository: 'https://example.com'}\n")
	put("charts/h/Chart.yaml", "apiVersion: v2\nname: h\nversion: 1.0.0\n")
	put("charts/h/templates/a.yaml", "a: {{ env \"HOME\" }}{{ expandenv \"$HOME\" }}\n")
}

// hostilePackages writes archives that lead out of themselves, link, or grow.
func hostilePackages(t *testing.T, repo, outside string) {
	var releases strings.Builder
	releases.WriteString(fluxKs("app", ""))
	zeros := strings.Repeat("\x00", 4<<20)
	const chart = "apiVersion: v2\nname: c\nversion: 1.0.0\n"
	for name, entries := range map[string][]tar.Header{
		"up":       {{Name: "c/Chart.yaml", Typeflag: tar.TypeReg}, {Name: "c/../../../outside/up.yaml", Typeflag: tar.TypeReg}},
		"absolute": {{Name: "c/Chart.yaml", Typeflag: tar.TypeReg}, {Name: "c/" + outside + "/secret.yaml", Typeflag: tar.TypeReg}},
		"link": {{Name: "c/Chart.yaml", Typeflag: tar.TypeReg}, {Name: "c/values.yaml", Typeflag: tar.TypeSymlink, Linkname: outside + "/secret.yaml"},
			{Name: "c/templates/a.yaml", Typeflag: tar.TypeLink, Linkname: outside + "/secret.yaml"}},
		"large": {{Name: "c/Chart.yaml", Typeflag: tar.TypeReg}},
	} {
		releases.WriteString(hostileRelease(name, "charts/"+name+".tgz", ""))
		var packed bytes.Buffer
		zipped := gzip.NewWriter(&packed)
		archive := tar.NewWriter(zipped)
		put := func(h tar.Header, content string) {
			h.Size, h.Mode = int64(len(content)), 0o644
			if err := archive.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if _, err := archive.Write([]byte(content)); err != nil {
				t.Fatal(err)
			}
		}
		for _, h := range entries {
			if h.Typeflag == tar.TypeReg {
				put(h, chart)
			} else {
				put(h, "")
			}
		}
		for i := 0; name == "large" && i < 100; i++ {
			put(tar.Header{Name: fmt.Sprintf("c/files/%d", i), Typeflag: tar.TypeReg}, zeros)
		}
		if err := archive.Close(); err != nil {
			t.Fatal(err)
		}
		if err := zipped.Close(); err != nil {
			t.Fatal(err)
		}
		putFile(t, filepath.Join(repo, "charts", name+".tgz"), packed.Bytes())
	}
	putFile(t, filepath.Join(repo, "clusters/one/ks.yaml"), []byte(releases.String()))
	putFile(t, filepath.Join(repo, "app/a.yaml"), []byte(configMap("a", "  b: c\n")))
}
