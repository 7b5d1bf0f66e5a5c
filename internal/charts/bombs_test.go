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

// bombs are templates that are refused before they run, or once they did. Those that only a measured
// bound ends are run as the command is built: see TestHostile of the command.
var bombs = map[string]string{
	"a map in itself":       `{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toYaml $d }}{{ fail "x" }}`,
	"repeat":                `{{ repeat 2000000000 "x" | len }}`,
	"replace":               `{{ $x := repeat 1000000 "x" }}{{ replace "x" $x $x | len }}`,
	"indent":                `{{ indent 100000000 (repeat 1000 "\n") | len }}`,
	"list of large texts":   `{{ $x := repeat 4000000 "x" }}{{ $l := list $x }}{{ range until 12 }}{{ $l = concat $l $l }}{{ end }}{{ join "" $l | len }}`,
	"deep parentheses":      `{{ ` + strings.Repeat("(", 4_000_000) + `1`,
	"hidden parentheses":    `{{ ` + strings.Repeat(`(print ")" `, 300_000) + `1`,
	"deep conditions":       strings.Repeat(`{{ if 1 }}`, 400_000),
	"deep conditions, else": `{{ if 0 }}` + strings.Repeat(`{{ else if 0 }}`, 300_000) + `{{ end }}`,
	"endless include":       `{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`,
	"panics":                `{{ index (list 1) 5 }}`,
	"large output":          `{{ $x := repeat 1000000 "x\n" }}{{ range 10 }}{{ $x }}{{ end }}`,
	"output of documents":   `{{ range 1000000 }}---` + "\n" + `a: b` + "\n" + `{{ end }}`,
	"output of nodes":       `a: [{{ repeat 7000000 "," }}]`,
	"output of depth":       `a: {{ repeat 1000000 "[" }}`,
	"output of aliases":     "a: &a [x,x,x,x,x,x,x,x,x]\n" + aliases(),
}

func aliases() string {
	var b strings.Builder
	for c := 'b'; c < 'l'; c++ {
		fmt.Fprintf(&b, "%c: &%c [%s]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 9))
	}
	return b.String()
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
	for name, files := range map[string]map[string]string{
		"large archive":      {"charts/sub.tgz": packed(t, many)},
		"large file":         {"charts/sub.tgz": packed(t, map[string]string{"sub/x": strings.Repeat("\x00", 6<<20)})},
		"many archives":      {"charts/a.tgz": packed(t, map[string]string{"sub/x": zeros}), "charts/b.tgz": packed(t, many)},
		"archives in itself": {"charts/sub.tgz": doll},
		"out of the archive": {"charts/sub.tgz": packed(t, map[string]string{"sub/../../x": "x"})},
		"absolute":           {"charts/sub.tgz": packed(t, map[string]string{"sub//etc/x": "x"})},
		"no archive":         {"charts/sub.tgz": "x"},
		"yaml of values":     {"values.yaml": "a: [" + strings.Repeat("a,", 2_000_000) + "]"},
		"yaml laughs":        {"values.yaml": "a: &a [x,x,x,x,x,x,x,x,x]\n" + aliases()},
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
