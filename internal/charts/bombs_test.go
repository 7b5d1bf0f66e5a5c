//go:build !race

// With the race detector bombs take minutes.
package charts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// bombs are templates that are refused before they run, or once they did, and the error of each. Those that only a
// measured bound ends are run as the command is built: see TestHostile of the command.
var bombs = map[string]struct{ template, want string }{
	"a map in itself":       {`{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toYaml $d }}{{ fail "x" }}`, "x.yaml:1: x"},
	"repeat":                {`{{ repeat 2000000000 "x" | len }}`, "a template creates a value larger than 16 MB"},
	"random":                {`{{ randAlphaNum 500000000 | len }}`, "a template creates a value larger than 16 MB"},
	"random in sum":         {`{{ range until 100 }}{{ randAlphaNum 1000000 | len }}{{ end }}`, "the templates create random strings of more than 16 MB"},
	"random bytes":          {`{{ randBytes 500000000 | len }}`, "a template creates a value larger than 16 MB"},
	"replace":               {`{{ $x := repeat 1000000 "x" }}{{ replace "x" $x $x | len }}`, "a template creates a value larger than 16 MB"},
	"indent":                {`{{ indent 100000000 (repeat 1000 "\n") | len }}`, "a template creates a value larger than 16 MB"},
	"list of large texts":   {`{{ $x := repeat 4000000 "x" }}{{ $l := list $x }}{{ range until 12 }}{{ $l = concat $l $l }}{{ end }}{{ join "" $l | len }}`, "a template creates a value larger than 16 MB"},
	"doubling include":      {`{{ define "a" }}{{ . }}{{ . }}{{ end }}{{ $x := "xxxxxxxx" }}{{ range until 60 }}{{ $x = include "a" $x }}{{ end }}{{ len $x }}`, "a template creates a value larger than 16 MB"},
	"doubling tpl":          {`{{ $x := "xxxxxxxx" }}{{ range until 60 }}{{ $x = tpl "{{ . }}{{ . }}" $x }}{{ end }}{{ len $x }}`, "a template creates a value larger than 16 MB"},
	"doubling in tpl":       {`{{ define "a" }}{{ . }}{{ . }}{{ end }}{{ tpl "{{ $x := . }}{{ range until 60 }}{{ $x = include \"a\" $x }}{{ end }}{{ len $x }}" "xxxxxxxx" }}`, "a template creates a value larger than 16 MB"},
	"includes in sum":       {`{{ define "a" }}{{ . }}{{ end }}{{ $x := repeat 15000000 "x" }}{{ $l := list }}{{ range until 1000 }}{{ $l = append $l (include "a" $x) }}{{ end }}{{ len $l }}`, spentAll},
	"loops":                 {`{{ range 100000000000 }}{{ end }}`, spentAll},
	"loops of text":         {`{{ range 900000 }}` + strings.Repeat("x", 1000) + `{{ end }}`, spentAll},
	"doubling template":     {doubling() + `{{ template "z40" }}`, spentAll},
	"printed in a loop":     {`{{ $x := repeat 1000000 "x\n" }}{{ range 1000 }}{{ $x }}{{ end }}`, spentAll},
	"tpl in a loop":         {`{{ range 100000 }}{{ tpl "x" $ }}{{ end }}`, spentAll},
	"doubling list":         {`{{ $x := list 1 2 3 4 }}{{ range until 60 }}{{ $x = concat $x $x }}{{ end }}{{ len $x }}`, "a template creates a value larger than 16 MB"},
	"growing list":          {`{{ $x := list }}{{ range 1000000 }}{{ $x = append $x . }}{{ end }}{{ len $x }}`, spentAll},
	"a counter set back":    {`{{ fleetwright_step -1000000000 }}{{ range 100000000000 }}{{ end }}`, spentAll},
	"a counter that ends":   {`{{ range 10 }}{{ fleetwright_step 9223372036854775807 }}{{ end }}`, spentAll},
	"printed itself":        {`{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $d }}`, "a template creates a value larger than 16 MB"},
	"quoted itself":         {`{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ quote $d }}`, "a template creates a value larger than 16 MB"},
	"printed list":          {`{{ $x := until 100000 }}{{ range 1000 }}{{ $x }}{{ end }}`, spentAll},
	"doubling printed":      {`{{ $x := list 1 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ $x }}`, "a template creates a value larger than 16 MB"},
	"tpl of itself":         {`{{ tpl "{{ if lt (int .) 40 }}{{ template \"gotpl\" (add1 .) }}{{ template \"gotpl\" (add1 .) }}{{ end }}" 0 }}`, spentAll},
	"file that doubles":     {`{{ if lt (int .n) 40 }}{{ $d := dict "n" (add1 .n) }}{{ template "bomb/templates/x.yaml" $d }}{{ template "bomb/templates/x.yaml" $d }}{{ end }}`, spentAll},
	"blanks in a loop":      {`{{ define "a" }}` + strings.Repeat(" ", 900_000) + `{{ end }}{{ range 400000 }}{{ template "a" }}{{ end }}`, spentAll},
	"a copy of itself":      {`{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ deepCopy $d | len }}`, "a template creates a value larger than 16 MB"},
	"merged into itself":    {`{{ $d := dict "a" (dict) }}{{ $_ := set $d.a "d" $d }}{{ mergeOverwrite $d $d | len }}`, "a template creates a value larger than 16 MB"},
	"merges of nothing":     {`{{ $d := dict }}{{ merge $d` + strings.Repeat(" $d", 300_000) + ` | len }}`, "a template creates a value larger than 16 MB"},
	"doubling copy":         {`{{ $d := dict "a" 1 }}{{ range until 60 }}{{ $d = dict "a" $d "b" $d }}{{ end }}{{ deepCopy $d | len }}`, "a template creates a value larger than 16 MB"},
	"widths":                {`{{ printf (repeat 2000 "%999999d")` + strings.Repeat(" 1", 2000) + ` | len }}`, "a template creates a value larger than 16 MB"},
	"widths of arguments":   {`{{ printf (repeat 20 "%*d")` + strings.Repeat(" 999999 1", 20) + ` | len }}`, "a template creates a value larger than 16 MB"},
	"deep in tpl":           {`{{ tpl (repeat 400000 "{{ if 1 }}") . }}`, "a template is nested too deeply"},
	"deep parentheses":      {`{{ ` + strings.Repeat("(", 4_000_000) + `1`, "a template is nested too deeply"},
	"hidden parentheses":    {`{{ ` + strings.Repeat(`(print ")" `, 300_000) + `1`, "a template is nested too deeply"},
	"deep conditions":       {strings.Repeat(`{{ if 1 }}`, 400_000), "a template is nested too deeply"},
	"deep conditions, else": {`{{ if 0 }}` + strings.Repeat(`{{ else if 0 }}`, 300_000) + `{{ end }}`, "a template is nested too deeply"},
	"endless include":       {`{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`, "a nested reference name"},
	"panics":                {`{{ index (list 1) 5 }}`, "index out of range: 5"},
	"large output":          {`{{ $x := repeat 1000000 "x\n" }}{{ range 10 }}{{ $x }}{{ end }}`, "the rendered templates are larger than 16 MB"},
	"output of documents":   {`{{ range 400000 }}---` + "\n" + `a: b` + "\n" + `{{ end }}`, "the rendered templates are larger than those of any known chart"},
	"output of nodes":       {`a: [{{ repeat 7000000 "," }}]`, "the rendered templates are larger than those of any known chart"},
	"output of depth":       {`a: {{ repeat 1000000 "[" }}`, "the rendered templates are larger than those of any known chart"},
	"output of aliases":     {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\na: &a [x,x,x,x,x,x,x,x,x]\n" + aliases(), "excessive aliasing"},
}

// spentAll is in the error of templates that do too much.
const spentAll = "the created values and the output of the templates add up to more than 128 MB"

// doubling defines templates that each contain the one before twice, and print nothing.
func doubling() string {
	text := `{{ define "z0" }}{{ end }}`
	for i := range 40 {
		text += fmt.Sprintf(`{{ define "z%d" }}{{ template "z%d" }}{{ template "z%d" }}{{ end }}`, i+1, i, i)
	}
	return text
}

func aliases() string {
	var b strings.Builder
	for c := 'b'; c < 'l'; c++ {
		fmt.Fprintf(&b, "%c: &%c [%s]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 9))
	}
	return b.String()
}

// TestBombs: each of them is refused.
func TestBombs(t *testing.T) {
	for name, bomb := range bombs {
		t.Run(name, func(t *testing.T) {
			if err := explode(t, bomb.template); err == nil || !strings.Contains(err.Error(), bomb.want) {
				t.Errorf("got %.200v, want %q", err, bomb.want)
			}
		})
	}
}

// explode renders a template, in a chart with a large file.
func explode(t *testing.T, template string) error {
	t.Helper()
	c, err := chartOf(t, map[string]string{"templates/x.yaml": template, "big": strings.Repeat("a\n", 1_000_000)})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Render(t.Context(), request(c, nil))
	return err
}

// TestNoBombs: what a counter might take for large is not.
func TestNoBombs(t *testing.T) {
	for _, template := range []string{
		`{{ range 100 }}{{ $_ := merge (dict "item" .) $ }}{{ end }}`,
		`{{ range 100 }}{{ $_ := mergeOverwrite (dict "item" . "Values" (dict)) $ (dict "a" nil) nil }}{{ end }}`,
		`{{ $_ := deepCopy $ }}`,
		`{{ $_ := printf "` + strings.Repeat("1700000000000 ** ", 30) + `%d" 1700000000000 }}`,
		`{{ $x := "a" | }}`,
	} {
		if err := explode(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"+template); err != nil {
			t.Errorf("%s gives %v", template, err)
		}
	}
}

// TestEndedContext: nothing is rendered once the context has ended.
func TestEndedContext(t *testing.T) {
	c, err := chartOf(t, map[string]string{"templates/x.yaml": `a: b`})
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
	subchart := func(content string) map[string]string { return map[string]string{"charts/sub.tgz": content} }
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"large archive":      {subchart(packed(t, many)), "the chart is larger than 32 MB"},
		"large file":         {subchart(packed(t, map[string]string{"sub/x": strings.Repeat("\x00", 6<<20)})), "x is larger than 5 MB"},
		"many archives":      {map[string]string{"charts/a.tgz": packed(t, map[string]string{"sub/x": zeros}), "charts/b.tgz": packed(t, many)}, "the chart is larger than 32 MB"},
		"archives in itself": {subchart(doll), "charts/sub.tgz: charts/sub.tgz: charts/sub.tgz: "},
		"out of the archive": {subchart(packed(t, map[string]string{"sub/../../x": "x"})), `"sub/../../x", which is outside of the chart's folder`},
		"absolute":           {subchart(packed(t, map[string]string{"sub//etc/x": "x"})), `"sub//etc/x", which is outside of the chart's folder`},
		"no archive":         {subchart("x"), "it is not a chart archive"},
		"yaml of values":     {map[string]string{"values.yaml": "a: [" + strings.Repeat("a,", 2_000_000) + "]"}, "are larger than those of any known chart"},
		"yaml laughs":        {map[string]string{"values.yaml": "a: &a [x,x,x,x,x,x,x,x,x]\n" + aliases()}, "document contains excessive aliasing"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := chartOf(t, c.files); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %.200v, want %q", err, c.want)
			}
		})
	}
}

// TestSchemas: a schema that refers to files and addresses decides nothing.
func TestSchemas(t *testing.T) {
	for name, schema := range map[string]string{
		"a file":     `{"$ref": "file:///etc/passwd"}`,
		"an address": `{"$ref": "https://example.com/schema.json"}`,
		"relative":   `{"$ref": "other.json"}`,
	} {
		t.Run(name, func(t *testing.T) {
			c, err := chartOf(t, map[string]string{"values.schema.json": schema})
			if err != nil {
				t.Fatal(err)
			}
			result, err := Render(t.Context(), request(c, nil))
			if err != nil || len(result.Problems) > 0 || result.Undecided == "" {
				t.Errorf("it gives %+v, %v", result, err)
			}
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
