package chartref

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestAsks(t *testing.T) {
	for _, c := range []struct {
		spec, chart, version string // no chart: an OCIRepository
		want                 Ask
		problem              string
	}{
		{"url: https://example.org/charts/", "app", "", Ask{URL: "https://example.org/charts", Chart: "app", Version: "*"}, ""},
		{"url: https://example.org", "app", "1.x", Ask{URL: "https://example.org", Chart: "app", Version: "1.x"}, ""},
		{"{type: oci, url: 'oci://example.org/charts/', insecure: true}", "app", "1.2.3", Ask{URL: "oci://example.org/charts/app", Version: "1.2.3", Insecure: true}, ""},
		{"url: oci://example.org/charts", "app", "1", Ask{}, "does not match"},
		{"url: https://user:secret@example.org", "app", "1", Ask{}, "credentials"},
		{"url: https://${HOST}/x", "app", "1", Ask{}, "variable"},
		{"url: file:///etc", "app", "1", Ask{}, "scheme"},
		{"url: https:example.org", "app", "1", Ask{}, "not valid"},
		{"url: 'https://example.org/?a=b'", "app", "1", Ask{}, "query"},
		{"{url: oci://example.org/app, ref: {tag: 1.0.0}}", "", "", Ask{URL: "oci://example.org/app", Tag: "1.0.0"}, ""},
		{"{url: oci://example.org/app}", "", "", Ask{URL: "oci://example.org/app", Tag: "latest"}, ""},
		{"{url: oci://example.org/app, ref: {tag: x, semver: 1.x, semverFilter: '.*-rc.*'}, layerSelector: {mediaType: a/b}}", "", "",
			Ask{URL: "oci://example.org/app", SemVer: "1.x", SemVerFilter: ".*-rc.*", MediaType: "a/b"}, ""},
		{"{url: oci://example.org/app, ref: {semver: 1.x, digest: 'sha256:1'}}", "", "", Ask{URL: "oci://example.org/app", Digest: "sha256:1"}, ""},
		{"{url: https://example.org/app}", "", "", Ask{}, "does not begin"},
	} {
		object := map[string]any{}
		var spec any
		if err := yaml.Unmarshal([]byte(c.spec), &spec); err != nil {
			t.Fatal(err)
		}
		object["spec"] = spec
		var got Ask
		var err error
		if c.chart == "" {
			got, err = FromOCIRepository(object)
		} else {
			got, err = FromHelmRepository(object, c.chart, c.version)
		}
		switch {
		case c.problem == "" && (err != nil || got != c.want):
			t.Errorf("%s: %+v, %v", c.spec, got, err)
		case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem) || strings.Contains(err.Error(), "secret")):
			t.Errorf("%s: the error is %v, want one with %q", c.spec, err, c.problem)
		}
	}
}
