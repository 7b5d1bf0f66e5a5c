package lock

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/chartref"
)

const (
	sumA = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	sumB = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

const written = `# Written by "fleetwright fetch": what it downloaded, by digest. Commit this file.
apiVersion: fleetwright.dev/v1alpha1
kind: Lock
metadata:
  name: lock
  annotations:
    config.kubernetes.io/local-config: "true"
spec:
  charts:
    - chart: app
      url: https://example.org
      asked:
        version: 1.x
      resolved:
        version: 1.2.3
        digest: ` + sumA + `
    - chart: podinfo
      url: oci://example.org/podinfo
      insecure: true
      asked:
        semver: '>=1'
        semverFilter: .*
        mediaType: a/b
      resolved:
        version: 6.5.0
        manifest: ` + sumA + `
        digest: ` + sumB + `
        signature: ` + sumA + `
`

func entries() []Chart {
	return []Chart{
		{chartref.Ask{URL: "oci://example.org/podinfo", SemVer: ">=1", SemVerFilter: ".*", MediaType: "a/b", Insecure: true}, "6.5.0", sumA, sumB, sumA},
		{chartref.Ask{URL: "https://example.org", Chart: "app", Version: "1.x"}, "1.2.3", "", sumA, ""},
	}
}

func TestEncode(t *testing.T) {
	for range 2 {
		l := &Lock{}
		all := entries()
		for _, c := range all {
			l.Put(c)
			l.Put(c)
		}
		text, err := l.Encode()
		if err != nil || string(text) != written {
			t.Fatalf("%v\n%s", err, text)
		}
		again, err := Decode(text)
		if err != nil || !reflect.DeepEqual(again, l) {
			t.Errorf("%+v, %v", again, err)
		}
		for _, c := range all {
			if found, ok := again.Find(c.Ask); !ok || found != c {
				t.Errorf("%v is %v, %v", c.Ask, found, ok)
			}
		}
		if _, ok := again.Find(chartref.Ask{URL: "https://example.org", Chart: "app", Version: "2.x"}); ok {
			t.Error("another version is found")
		}
		slices.Reverse(all)
	}
}

func TestDecodeIsStrict(t *testing.T) {
	for _, c := range []struct{ old, change, want string }{
		{"kind: Lock", "kind: Block", "is not a Lock"},
		{"version: 1.2.3", "versions: 1.2.3", "line 15: field versions not found"},
		{"digest: " + sumA, "digest: sha256:aa", "spec.charts[0]: a digest is"},
		{"digest: " + sumA, "digest: " + strings.ToUpper(sumA), "a digest is"},
		{"chart: podinfo", "chart: other", `the chart "other" is not that of`},
		{"spec:", "---\nspec:", "is not a Lock"},
		{"  charts:", "<<<<<<< HEAD\n  charts:", "merge conflict"},
		{"chart: app", "chart: app\n      chart: app", "already defined"},
	} {
		text := strings.Replace(written, c.old, c.change, 1)
		if c.want == "is not a Lock" && c.old == "spec:" {
			c.want = "more than one document"
		}
		if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), File) {
			t.Errorf("%q: the error is %v, want one with %q", c.change, err, c.want)
		}
	}
	_, last, _ := strings.Cut(written, "    - chart: podinfo")
	twice := written + "    - chart: podinfo" + last
	if _, err := Decode([]byte(twice)); err == nil || !strings.Contains(err.Error(), "spec.charts[2] requests the same") {
		t.Errorf("the error is %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(written))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Decode(data)
		if err != nil {
			return
		}
		text, err := l.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Decode(text); err != nil || !reflect.DeepEqual(l, again) {
			t.Errorf("%v: %+v is %+v", err, l, again)
		}
	})
}
