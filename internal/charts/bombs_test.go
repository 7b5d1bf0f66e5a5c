//go:build !race

// The race detector makes the time and memory of bombs another thing.
package charts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"
)

// bombs are templates that would take for ever, all memory, or the process with them.
var bombs = map[string]string{
	"endless include":       `{{ define "a" }}{{ include "b" . }}{{ end }}{{ define "b" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`,
	"endless template":      `{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}`,
	"template in include":   `{{ define "a" }}{{ range until 2 }}{{ include "b" $ }}{{ end }}{{ end }}{{ define "b" }}{{ template "a" . }}{{ end }}{{ include "a" . }}`,
	"twice each level":      `{{ define "a" }}{{ if gt (int .n) 0 }}{{ $d := dict "n" (sub (int .n) 1) }}{{ template "a" $d }}{{ template "a" $d }}{{ end }}{{ end }}{{ template "a" dict "n" 60 }}`,
	"twice without output":  `{{ define "z0" }}{{ end }}` + doubling(40) + `{{ template "z40" }}`,
	"tpl of tpl":            `{{ $t := "{{ tpl .t . }}" }}{{ tpl $t (dict "t" $t) }}`,
	"range of a number":     `{{ range 100000000000 }}{{ end }}`,
	"range of ranges":       `{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}`,
	"until":                 `{{ until 2000000000 | len }}`,
	"until wraps around":    `{{ untilStep 9000000000000000000 9223372036854775807 5000000000000000000 | len }}`,
	"seq":                   `{{ seq 1 1 2000000000 | len }}`,
	"repeat":                `{{ repeat 2000000000 "x" | len }}`,
	"repeat a text number":  `{{ repeat (int "2000000000") "x" | len }}`,
	"doubling text":         `{{ $x := "xxxxxxxxxxxxxxxx" }}{{ range until 60 }}{{ $x = printf "%s%s" $x $x }}{{ end }}{{ len $x }}`,
	"doubling list":         `{{ $x := list 1 2 3 4 }}{{ range until 60 }}{{ $x = concat $x $x }}{{ end }}{{ len $x }}`,
	"list of large texts":   `{{ $x := repeat 4000000 "x" }}{{ $l := list $x }}{{ range until 20 }}{{ $l = concat $l $l }}{{ end }}{{ join "" $l | len }}`,
	"replace":               `{{ $x := repeat 1000000 "x" }}{{ replace "x" $x $x | len }}`,
	"replace nothing":       `{{ $x := repeat 1000000 "x" }}{{ replace "" $x $x | len }}`,
	"indent":                `{{ indent 100000000 (repeat 1000 "\n") | len }}`,
	"printf width":          `{{ $f := repeat 100000 "%999999d" }}{{ printf $f 1 | len }}`,
	"printf again":          `{{ $x := repeat 100000 "x" }}{{ printf (repeat 100000 "%[1]s") $x | len }}`,
	"printf star":           `{{ printf (repeat 1000 "%*d%*d%*d") 999999 1 999999 1 999999 1 | len }}`,
	"wrap":                  `{{ wrapWith 1 (repeat 1000000 "x") (repeat 100 "a ") | len }}`,
	"a map in itself":       `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $d }}`,
	"printed in itself":     `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ print $d | len }}`,
	"toYaml of itself":      `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toYaml $d | len }}{{ fail "x" }}`,
	"toToml of itself":      `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toToml $d | len }}`,
	"copy of itself":        `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ deepCopy $d | len }}`,
	"merge into itself":     `{{ $d := dict "a" (dict) }}{{ $_ := set $d.a "d" $d }}{{ mergeOverwrite $d (deepCopy $d) $d | len }}`,
	"quote of itself":       `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ quote $d | len }}`,
	"join of itself":        `{{ $d := dict }}{{ $_ := set $d "d" (list $d) }}{{ join "," (list $d) | len }}`,
	"values in themselves":  `{{ $_ := set .Values "v" .Values }}{{ .Values.YAML | len }}`,
	"html of itself":        `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ html $d }}`,
	"deep list":             `{{ $l := list 1 }}{{ range until 100000 }}{{ $l = list $l }}{{ end }}{{ $l }}`,
	"laughs":                `{{ $d := dict "a" 1 }}{{ range until 60 }}{{ $d = dict "a" $d "b" $d }}{{ end }}{{ toJson $d | len }}`,
	"laughs printed":        `{{ $d := dict "a" 1 }}{{ range until 60 }}{{ $d = dict "a" $d "b" $d }}{{ end }}{{ $d }}`,
	"laughs compared":       `{{ $d := dict "a" 1 }}{{ range until 60 }}{{ $d = dict "a" $d "b" $d }}{{ end }}{{ deepEqual $d (dict "a" 1) }}`,
	"yaml laughs":           `{{ $y := "a: &a [x,x,x,x,x,x,x,x,x]\n" }}{{ $p := "a" }}{{ range list "b" "c" "d" "e" "f" "g" "h" "i" "j" }}{{ $y = printf "%s%s: &%s [*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s]\n" $y . . $p $p $p $p $p $p $p $p $p }}{{ $p = . }}{{ end }}{{ fromYaml $y | toJson | len }}{{ fail "x" }}`,
	"regular expression":    `{{ $x := repeat 1000000 "a" }}{{ range until 100 }}{{ regexMatch "(((a{1,100}){1,10})|b){1,10}$" $x }}{{ end }}`,
	"regular results":       `{{ $x := repeat 1000000 "a" }}{{ range until 1000 }}{{ regexFindAll "" $x -1 | len }}{{ end }}`,
	"sorting":               `{{ $x := until 10000 }}{{ range until 10000 }}{{ $_ := uniq $x }}{{ end }}`,
	"passwords":             `{{ range until 10000 }}{{ derivePassword 1 "long" "a" "b" "c" }}{{ end }}`,
	"keys":                  `{{ range until 1000000 }}{{ genPrivateKey "rsa" | len }}{{ end }}{{ range 100000000 }}{{ end }}`,
	"glob":                  `{{ range 1000000 }}{{ len ($.Files.Glob "**a**b**c**") }}{{ end }}`,
	"lines":                 `{{ range 100000000 }}{{ len ($.Files.Lines "big") }}{{ end }}`,
	"files":                 `{{ range 100000000 }}{{ len $.Files.AsSecrets }}{{ end }}`,
	"many methods":          `{{ range 100000000 }}{{ or ` + strings.Repeat(`($.Capabilities.APIVersions.Has "x") `, 500) + `}}{{ end }}`,
	"large output":          `{{ $x := repeat 1000000 "x\n" }}{{ range 1000 }}{{ $x }}{{ end }}`,
	"deep parentheses":      `{{ ` + strings.Repeat("(", 4_000_000) + `1`,
	"hidden parentheses":    `{{ ` + strings.Repeat(`(print ")" `, 300_000) + `1`,
	"deep conditions":       strings.Repeat(`{{ if 1 }}`, 400_000),
	"deep conditions, else": `{{ if 0 }}` + strings.Repeat(`{{ else if 0 }}`, 300_000) + `{{ end }}`,
	"many nested lists":     strings.Repeat(`{{ if 1 }}`, 3000) + strings.Repeat(`{{ end }}`, 3000),
	"nesting in recursion":  `{{ define "a" }}` + strings.Repeat(`{{ if 1 }}`, 150) + `{{ template "a" }}` + strings.Repeat(`{{ end }}`, 150) + `{{ end }}{{ template "a" }}`,
	"own step function":     `{{ define "a" }}{{ fleetwrightStep 1 }}{{ range 100000000000 }}{{ end }}{{ end }}{{ template "a" }}`,
	"leaves too often":      `{{ define "a" }}{{ fleetwrightLeave 100000 }}{{ template "a" }}{{ end }}{{ template "a" }}`,
	"gives work back":       `{{ range 100000000000 }}{{ fleetwrightStep -1000000 }}{{ end }}`,
	"panics":                `{{ index (list 1) 5 }}`,
	"random":                `{{ range 100000 }}{{ randAlphaNum 100000 | len }}{{ end }}`,
	"trees":                 `{{ range 1000000 }}{{ tpl "{{ define \"x\" }}{{ if 1 }}y{{ end }}{{ end }}" $ }}{{ end }}`,
	"output of documents":   `{{ range 5000000 }}---` + "\n" + `a: b` + "\n" + `{{ end }}`,
	"output of nodes":       `a: [{{ repeat 7000000 "," }}]`,
	"output of depth":       `a: {{ repeat 1000000 "[" }}`,
	"output of aliases":     "a: &a [x,x,x,x,x,x,x,x,x]\n" + aliases(),
}

func doubling(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{{ define "z%d" }}{{ template "z%d" }}{{ template "z%d" }}{{ end }}`, i+1, i, i)
	}
	return b.String()
}

func aliases() string {
	var b strings.Builder
	for c := 'b'; c < 'l'; c++ {
		fmt.Fprintf(&b, "%c: &%c [%s]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 9))
	}
	return b.String()
}

func chartOf(t *testing.T, files map[string]string) (*Chart, error) {
	t.Helper()
	all := Files{"Chart.yaml": []byte("apiVersion: v2\nname: bomb\nversion: 1.0.0\n")}
	for name, text := range files {
		all[name] = []byte(text)
	}
	return Load(all)
}

// watch tells how much memory was in use at most until stop is called.
func watch() (stop func() (megabytes uint64)) {
	runtime.GC()
	end, peak := make(chan struct{}), make(chan uint64)
	go func() {
		live := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(live)
		before, most := live[0].Value.Uint64(), uint64(0)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(live)
			most = max(most, live[0].Value.Uint64(), before)
			select {
			case <-end:
				peak <- (most - before) >> 20
				return
			case <-tick.C:
			}
		}
	}()
	return func() uint64 {
		close(end)
		return <-peak
	}
}

// TestBombs: each of them ends soon, with an error and without taking much memory.
func TestBombs(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(bombs)) {
		t.Run(name, func(t *testing.T) {
			c, err := chartOf(t, map[string]string{"templates/x.yaml": bombs[name], "big": strings.Repeat("a\n", 1_000_000)})
			if err != nil {
				t.Fatal(err)
			}
			stop := watch()
			start := time.Now()
			_, err = Render(t.Context(), request(c, nil))
			took := time.Since(start)
			used := stop()
			if err == nil {
				t.Error("it renders")
			}
			if took > time.Minute || used > 200 {
				t.Errorf("it took %v and %d MB: %v", took, used, err)
			}
			t.Logf("%v, %d MB: %.100v", took, used, err)
		})
	}
}

// TestEndedContext: a rendering ends with its context.
func TestEndedContext(t *testing.T) {
	c, err := chartOf(t, map[string]string{"templates/x.yaml": `{{ range 100000000000 }}{{ end }}`})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Render(ctx, request(c, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("it gives %v", err)
	}
}

// packed is an archive of files.
func packed(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	archive := tar.NewWriter(zipped)
	for name, text := range files {
		if err := archive.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestLoadingBombs: charts that are too large, packed too often, or lead out of themselves
// are refused.
func TestLoadingBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", 4<<20)
	many := map[string]string{"sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n"}
	for i := range 20 {
		many[fmt.Sprintf("sub/%d", i)] = zeros
	}
	doll := packed(t, map[string]string{"sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n"})
	for range 20 {
		doll = packed(t, map[string]string{"sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n", "sub/charts/sub.tgz": doll})
	}
	alias := "dependencies:\n"
	for i := range 30 {
		alias += fmt.Sprintf("  - {name: sub, version: '*', alias: a%d}\n", i)
	}
	sub := func(name string) string { return "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n" }
	for name, files := range map[string]map[string]string{
		"large archive":      {"charts/sub.tgz": packed(t, many)},
		"large file":         {"charts/sub.tgz": packed(t, map[string]string{"sub/x": strings.Repeat("\x00", 6<<20)})},
		"many archives":      {"charts/a.tgz": packed(t, map[string]string{"sub/x": zeros}), "charts/b.tgz": packed(t, many)},
		"archives in itself": {"charts/sub.tgz": doll},
		"out of the archive": {"charts/sub.tgz": packed(t, map[string]string{"sub/../../x": "x"})},
		"absolute":           {"charts/sub.tgz": packed(t, map[string]string{"sub//etc/x": "x"})},
		"no archive":         {"charts/sub.tgz": "x"},
		"aliases of aliases": {"Chart.yaml": sub("a") + alias, "charts/sub/Chart.yaml": sub("sub") + alias,
			"charts/sub/charts/sub/Chart.yaml": sub("sub") + alias, "charts/sub/charts/sub/charts/sub/Chart.yaml": sub("sub")},
		"yaml of values": {"values.yaml": "a: [" + strings.Repeat("a,", 2_000_000) + "]"},
		"yaml laughs":    {"values.yaml": "a: &a [x,x,x,x,x,x,x,x,x]\n" + aliases()},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := chartOf(t, files)
			if err == nil {
				t.Error("it is loaded")
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			t.Logf("%.150v", err)
		})
	}
}

// TestSchemaBombs: a schema that doubles the work with each level, or refers to files and
// addresses, decides nothing.
func TestSchemaBombs(t *testing.T) {
	var levels strings.Builder
	for i := range 40 {
		fmt.Fprintf(&levels, `"d%d": {"anyOf": [{"$ref": "#/definitions/d%d"}, {"$ref": "#/definitions/d%d"}]},`, i+1, i, i)
	}
	for name, schema := range map[string]string{
		"doubling":      `{"definitions": {` + levels.String() + `"d0": {"type": "string"}}, "$ref": "#/definitions/d40"}`,
		"doubling 2020": `{"$schema": "https://json-schema.org/draft/2020-12/schema", "definitions": {` + levels.String() + `"d0": {"required": ["x"]}}, "$ref": "#/definitions/d40"}`,
		"a file":        `{"$ref": "file:///etc/passwd"}`,
		"an address":    `{"$ref": "https://example.com/schema.json"}`,
		"relative":      `{"$ref": "other.json"}`,
		"pattern":       `{"properties": {"text": {"pattern": "((a{1,100})|b){1,9}$"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			c, err := chartOf(t, map[string]string{"values.schema.json": schema})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			result, err := Render(t.Context(), request(c, map[string]any{"text": strings.Repeat("a", 1_000_000)}))
			if err != nil || len(result.Problems) > 0 || result.Undecided == "" {
				t.Errorf("it gives %+v, %v", result, err)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			t.Log(result.Undecided)
		})
	}
	for _, schema := range []string{"{", `{"type": 1}`, `{"pattern": "("}`} {
		c, err := chartOf(t, map[string]string{"values.schema.json": schema})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := Render(t.Context(), request(c, nil)); err == nil {
			t.Errorf("%s gives %+v", schema, result)
		}
	}
}
