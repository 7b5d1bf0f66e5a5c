package fetch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/cache"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/fetch/fetchtest"
	"github.com/fleetwright/fleetwright/internal/testpeer"
)

// What is fetched are the bytes that "helm pull" downloads, for each version and range.
func TestHelmAgrees(t *testing.T) {
	s, o := fetchtest.New(t), options(t)
	served := []string{}
	places := map[string]string{s.Charts(): "charts", s.Registry(): "registry"}
	serve := func(name, v string, archive []byte) {
		s.Add(name, v, archive, "")
		s.Push("charts/"+name, strings.ReplaceAll(v, "+", "_"), fetchtest.Layer, archive)
		served = append(served, name+"-"+v)
		places[cache.Sum(archive)] = name + "-" + v
	}
	for _, v := range []string{"1.2.3", "1.10.0", "1.9.9", "2.0.0-rc.1", "2.0.0-rc.10", "0.9.0", "3.0.0+build.7"} {
		serve("app", v, fetchtest.Chart(t, "app", v, v))
	}
	pull := func(args ...string) string {
		t.Helper()
		into := t.TempDir()
		testpeer.Command{Tool: "helm", Args: append([]string{"pull", "--destination", into}, args...), Env: []string{"SERVED=" + strings.Join(served, " ")},
			Writes: into, Sums: true, Places: places, Keep: func(string) string { return "" }}.Output(t)
		files, err := filepath.Glob(filepath.Join(into, "*.tgz"))
		if err != nil || len(files) != 1 {
			t.Fatalf("helm pulled %v, %v", files, err)
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, v := range []string{"v1.99.0", "1.98"} { // source-controller does not take these for ranges of tags or versions
		serve("lax", v, fetchtest.Chart(t, "lax", v, v))
	}
	serve("lax", "1.0.0", fetchtest.Chart(t, "lax", "1.0.0", ""))
	asHelm := func(chart, version string, devel bool, args ...string) (asks []chartref.Ask, with [][]string) {
		t.Helper()
		if version != "" {
			args = append(args, "--version", version)
		}
		if devel {
			args = append(args, "--devel")
		}
		for _, repository := range []string{s.Charts(), "oci://" + s.Registry() + "/charts"} {
			ask, err := chartref.FromHelm(chartref.HelmRequest{Repository: repository, Chart: chart, Version: version, Devel: devel, Insecure: true})
			if err != nil {
				t.Fatal(err)
			}
			asks = append(asks, ask)
		}
		return asks, [][]string{append([]string{chart, "--repo", s.Charts()}, args...), append([]string{"oci://" + s.Registry() + "/charts/" + chart, "--plain-http"}, args...)}
	}
	for _, c := range []struct {
		chart, version string
		devel          bool
	}{{"app", "", false}, {"app", "", true}, {"app", "1.x", false}, {"app", "1.x", true}, {"lax", "1.x", false}, {"lax", "", false}, {"lax", "1.98", false}, {"lax", "v1.99.0", false}} {
		asks, with := asHelm(c.chart, c.version, c.devel)
		for i, ask := range asks {
			out := one(t, o, ask)
			if want := pull(with[i]...); out.Err != nil || out.Entry.SHA256 != want {
				t.Errorf("%s: version %s with %s, %v; helm pulls %s", ask, out.Entry.Resolved, out.Entry.SHA256, out.Err, want)
			}
		}
	}
	var seen []string
	for _, version := range []string{"1.2.3", "1.x", "~1.9", "^1.2", ">=1.0.0 <1.10.0", "0.9.0", "*", ">=2.0.0-0 <3.0.0-0", "2.0.0-rc.1", "3.0.0+build.7", ">=1, <2 || >5"} {
		for _, c := range []struct {
			ask  chartref.Ask
			args []string
		}{
			{chartref.Ask{URL: s.Charts(), Chart: "app", Version: version}, []string{"app", "--repo", s.Charts(), "--version", version}},
			{chartref.Ask{URL: "oci://" + s.Registry() + "/charts/app", Version: version, Insecure: true}, []string{"oci://" + s.Registry() + "/charts/app", "--plain-http", "--version", version}},
		} {
			out := one(t, o, c.ask)
			if out.Err != nil {
				t.Errorf("%s: %v", c.ask, out.Err)
				continue
			}
			if want := pull(c.args...); out.Entry.SHA256 != want {
				t.Errorf("%s: version %s with %s, helm pulls %s", c.ask, out.Entry.Resolved, out.Entry.SHA256, want)
			}
			seen = append(seen, out.Entry.SHA256)
		}
	}
	slices.Sort(seen)
	if n := len(slices.Compact(seen)); n < 6 {
		t.Errorf("only %d charts were compared", n)
	}
}
