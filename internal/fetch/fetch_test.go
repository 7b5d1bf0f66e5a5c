package fetch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fleetwright/fleetwright/internal/cache"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/fetch/fetchtest"
	"github.com/fleetwright/fleetwright/internal/lock"
)

// options are those of a test, whose servers are on loopback.
func options(t *testing.T) Options {
	t.Helper()
	return Options{
		Lock: &lock.Lock{}, Update: func(chartref.Ask) bool { return false }, Cache: cache.New(t.TempDir()),
		Trusted: func(host string) bool { return host == "127.0.0.1" }, Env: func(string) string { return "" }, Now: time.Now,
	}
}

// one fetches one chart.
func one(t *testing.T, o Options, a chartref.Ask) Outcome {
	t.Helper()
	return Charts(t.Context(), []chartref.Ask{a}, o)[0]
}

// mustHave checks what an ask resolved to, and that the cache has it.
func mustHave(t *testing.T, o Options, out Outcome, status Status, version string, archive []byte) {
	t.Helper()
	if out.Err != nil || out.Status != status || out.Entry.Resolved != version || out.Entry.SHA256 != fetchtest.Sum(archive) {
		t.Errorf("%s: %s %+v, %v; want %s %s %s", out.Ask, out.Status, out.Entry, out.Err, status, version, fetchtest.Sum(archive))
	}
	if _, err := o.Cache.Read(fetchtest.Sum(archive)); err != nil {
		t.Errorf("%s: the cache: %v", out.Ask, err)
	}
}

func TestRepository(t *testing.T) {
	s, o := fetchtest.New(t), options(t)
	archives := map[string][]byte{}
	for _, v := range []string{"1.2.3", "1.10.0", "2.0.0-rc.1", "v0.9.0", "broken"} {
		archives[v] = fetchtest.Chart(t, "app", strings.TrimPrefix(strings.Replace(v, "broken", "0.0.1", 1), "v"), v)
		s.Add("app", v, archives[v], "")
	}
	asked := map[string]string{"1.2.3": "1.2.3", "1.x": "1.10.0", "*": "1.10.0", ">=2.0.0-0": "2.0.0-rc.1", "v0.9.0": "v0.9.0", "0.9.x": "v0.9.0", "broken": "broken", "~1.2": "1.2.3"}
	var asks []chartref.Ask
	for version := range asked {
		asks = append(asks, chartref.Ask{URL: s.Charts(), Chart: "app", Version: version})
	}
	for _, out := range Charts(t.Context(), asks, o) {
		mustHave(t, o, Outcome{Ask: out.Ask, Status: Fetched, Entry: out.Entry, Was: out.Was, Err: out.Err}, Fetched, asked[out.Ask.Version], archives[asked[out.Ask.Version]])
		o.Lock.Put(out.Entry)
	}
	if n := s.Requests("/charts/index.yaml"); n != 1 {
		t.Errorf("the index was downloaded %d times", n)
	}
	if n := s.Requests("/charts/app-1.10.0.tgz"); n != 1 {
		t.Errorf("an archive was downloaded %d times", n)
	}
	before := s.Requests("")
	for _, out := range Charts(t.Context(), asks, o) {
		mustHave(t, o, out, Cached, asked[out.Ask.Version], archives[asked[out.Ask.Version]])
	}
	if n := s.Requests("") - before; n > 0 {
		t.Errorf("a fetch with nothing to do made %d requests", n)
	}
	for version, want := range map[string]string{"3.x": `no version matches "3.x"`, "nonsense!": "is not a range"} {
		if out := one(t, o, chartref.Ask{URL: s.Charts(), Chart: "app", Version: version}); out.Err == nil || !strings.Contains(out.Err.Error(), want) {
			t.Errorf("%s: %v", version, out.Err)
		}
	}
	if out := one(t, o, chartref.Ask{URL: s.Charts(), Chart: "other", Version: "*"}); out.Err == nil || !strings.Contains(out.Err.Error(), `no chart "other"`) {
		t.Errorf("%v", out.Err)
	}
}

// The lock keeps a version when there is a higher one, and finds a version that was replaced.
func TestLocked(t *testing.T) {
	s, o := fetchtest.New(t), options(t)
	ask := chartref.Ask{URL: s.Charts(), Chart: "app", Version: "1.x"}
	first, second := fetchtest.Chart(t, "app", "1.0.0", "first"), fetchtest.Chart(t, "app", "1.1.0", "second")
	s.Add("app", "1.0.0", first, "")
	out := one(t, o, ask)
	mustHave(t, o, out, Fetched, "1.0.0", first)
	o.Lock.Put(out.Entry)

	s.Add("app", "1.1.0", second, "")
	mustHave(t, o, one(t, o, ask), Cached, "1.0.0", first)
	o.Cache = cache.New(t.TempDir())
	mustHave(t, o, one(t, o, ask), Fetched, "1.0.0", first)
	o.Update = func(a chartref.Ask) bool { return a == ask }
	out = one(t, o, ask)
	mustHave(t, o, out, Fetched, "1.1.0", second)
	if out.Was == nil || out.Was.Resolved != "1.0.0" {
		t.Errorf("it was %v", out.Was)
	}

	replaced := fetchtest.Chart(t, "app", "1.0.0", "replaced")
	s.Add("app", "1.0.0", replaced, "")
	o.Update, o.Cache = func(chartref.Ask) bool { return false }, cache.New(t.TempDir())
	out = one(t, o, ask)
	for _, digest := range []string{fetchtest.Sum(first), fetchtest.Sum(replaced)} {
		if out.Err == nil || !strings.Contains(out.Err.Error(), digest) {
			t.Errorf("the error is %v, want one that names %s", out.Err, digest)
		}
	}
}

func TestRegistry(t *testing.T) {
	s, o := fetchtest.New(t), options(t)
	archives, manifests := map[string][]byte{}, map[string]string{}
	for _, tag := range []string{"1.2.3", "1.10.0", "2.0.0-rc.1", "1.0.0_build.5"} {
		archives[tag] = fetchtest.Chart(t, "app", strings.ReplaceAll(tag, "_", "+"), tag)
		manifests[tag] = s.Push("charts/app", tag, "other/type", []byte("provenance"), fetchtest.Layer, archives[tag])
	}
	s.Push("charts/app", "latest", fetchtest.Layer, archives["1.10.0"])
	at := "oci://" + s.Registry() + "/charts/app"
	ask := func(change func(a *chartref.Ask)) chartref.Ask {
		a := chartref.Ask{URL: at, Insecure: true}
		change(&a)
		return a
	}
	for _, c := range []struct {
		ask          chartref.Ask
		version, tag string
	}{
		{ask(func(a *chartref.Ask) { a.Version = "1.2.3" }), "1.2.3", "1.2.3"},
		{ask(func(a *chartref.Ask) { a.Version = "1.x" }), "1.10.0", "1.10.0"},
		{ask(func(a *chartref.Ask) { a.Version = "1.0.0+build.5" }), "1.0.0+build.5", "1.0.0_build.5"},
		{ask(func(a *chartref.Ask) { a.SemVer, a.MediaType = "*", fetchtest.Layer }), "1.10.0", "1.10.0"},
		{ask(func(a *chartref.Ask) { a.SemVer, a.SemVerFilter, a.MediaType = ">=1.0.0-0", ".*-rc.*", fetchtest.Layer }), "2.0.0-rc.1", "2.0.0-rc.1"},
		{ask(func(a *chartref.Ask) { a.Tag = "latest" }), "latest", "1.10.0"},
		{ask(func(a *chartref.Ask) { a.Digest, a.MediaType = manifests["1.2.3"], fetchtest.Layer }), "", "1.2.3"},
	} {
		o.Cache = cache.New(t.TempDir())
		out := one(t, o, c.ask)
		mustHave(t, o, out, Fetched, c.version, archives[c.tag])
		if out.Err == nil && c.tag != "1.10.0" && out.Entry.Manifest != manifests[c.tag] {
			t.Errorf("%s: the manifest is %s, want %s", c.ask, out.Entry.Manifest, manifests[c.tag])
		}
		o.Lock.Put(out.Entry)
		mustHave(t, o, one(t, o, c.ask), Cached, c.version, archives[c.tag])
		o.Cache = cache.New(t.TempDir())
		mustHave(t, o, one(t, o, c.ask), Fetched, c.version, archives[c.tag])
	}
	for want, a := range map[string]chartref.Ask{
		"not found":                 ask(func(a *chartref.Ask) { a.Tag = "no" }),
		`no tag matches "3.x"`:      ask(func(a *chartref.Ask) { a.SemVer = "3.x" }),
		"no layer of type a/b":      ask(func(a *chartref.Ask) { a.Tag, a.MediaType = "1.2.3", "a/b" }),
		"is not a chart":            ask(func(a *chartref.Ask) { a.Tag = "1.2.3" }), // its first layer is none
		`the filter "(" is not val`: ask(func(a *chartref.Ask) { a.SemVer, a.SemVerFilter = "*", "(" }),
	} {
		if out := one(t, o, a); out.Err == nil || !strings.Contains(out.Err.Error(), want) {
			t.Errorf("%s: the error is %v, want one with %q", a, out.Err, want)
		}
	}
	o.Cache = cache.New(t.TempDir())
	moved := s.Push("charts/app", "1.2.3", fetchtest.Layer, fetchtest.Chart(t, "app", "1.2.3", "moved"))
	out := one(t, o, ask(func(a *chartref.Ask) { a.Version = "1.2.3" }))
	if which := (*MovedError)(nil); !errors.As(out.Err, &which) || which.Locked != fetchtest.Sum(archives["1.2.3"]) {
		t.Errorf("a tag that moved to %s: %v", moved, out.Err)
	}
}

// What a server does wrong is an error, or is overcome; nothing of it gets into the cache.
func TestFaults(t *testing.T) {
	chart := fetchtest.Chart(t, "app", "1.0.0", "text")
	const index, archive = "/charts/index.yaml", "/charts/app-1.0.0.tgz"
	times := func(n int, first http.HandlerFunc) func(s *fetchtest.Server, at string) {
		return func(s *fetchtest.Server, at string) {
			s.Answer(at, func(w http.ResponseWriter, r *http.Request) {
				if n--; n == 0 {
					s.Answer(at, nil)
				}
				first(w, r)
			})
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(code)
		}
	}
	text := func(data string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(data)) }
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	bomb := fetchtest.Archive(t, map[string]string{"app/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", "app/a": strings.Repeat("0", 40<<20)})
	escape := fetchtest.Archive(t, map[string]string{"app/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", "app/../../evil": "x"})
	for _, c := range []struct {
		name, at, want string // want "": it works in the end
		do             func(s *fetchtest.Server, at string)
	}{
		{"no index", index, "answers 404", times(9, status(404))},
		{"busy", index, "", times(2, status(429))},
		{"fails for a while", archive, "", times(2, status(503))},
		{"cut off", archive, "", times(1, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write(chart[:10])
		})},
		{"closed", index, "", times(1, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })},
		{"no YAML", index, "is not valid", times(9, text("entries: [}"))},
		{"odd entries", index, "is not valid", times(9, text("entries: {app: {a: b}}"))},
		{"no address", index, "no address", times(9, text("entries: {app: [{version: 1.0.0}]}"))},
		{"no chart", archive, "says that the archive has", times(9, text("hello"))},
		{"a chart that is none", index, "is not a chart", times(9, text("entries: {app: [{version: 1.0.0, urls: [index.yaml]}]}"))},
		{"a scheme", index, "the scheme \"file\" is not", times(9, text("entries: {app: [{version: 1.0.0, urls: ['file:///etc/passwd']}]}"))},
		{"metadata", archive, "169.254.169.254, which is link-local or of a metadata service", times(9, redirect("http://169.254.169.254/latest"))},
		{"metadata by name", archive, "metadata.google.internal is a metadata service", times(9, redirect("http://metadata.google.internal/"))},
		{"metadata in the index", index, "metadata", times(9, text("entries: {app: [{version: 1.0.0, urls: ['http://[::ffff:169.254.169.254]/x']}]}"))},
		{"a private address", archive, "private address", times(9, redirect("http://127.0.0.2:1/x"))},
		{"a circle", archive, "redirects", times(99, redirect(archive))},
		{"too large", archive, "larger than 10 MB", times(9, func(w http.ResponseWriter, _ *http.Request) {
			for range 11 {
				_, _ = w.Write(make([]byte, 1<<20))
			}
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, o := fetchtest.New(t), options(t)
			s.Add("app", "1.0.0", chart, "")
			c.do(s, c.at)
			out := one(t, o, chartref.Ask{URL: s.Charts(), Chart: "app", Version: "1.0.0"})
			if c.want == "" {
				mustHave(t, o, out, Fetched, "1.0.0", chart)
				return
			}
			if out.Err == nil || !strings.Contains(out.Err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", out.Err, c.want)
			}
		})
	}
	for name, data := range map[string][]byte{"a bomb": bomb, "an archive that leads out": escape} {
		s, o := fetchtest.New(t), options(t)
		s.Add("app", "1.0.0", data, "")
		out := one(t, o, chartref.Ask{URL: s.Charts(), Chart: "app", Version: "1.0.0"})
		if out.Err == nil || !strings.Contains(out.Err.Error(), "is not a chart") {
			t.Errorf("%s: %v", name, out.Err)
		}
		if _, err := o.Cache.Read(fetchtest.Sum(data)); err == nil {
			t.Errorf("%s is in the cache", name)
		}
	}
}

// A server that sends nothing any more, or other content than it says.
func TestLies(t *testing.T) {
	s, o := fetchtest.New(t), options(t)
	chart := fetchtest.Chart(t, "app", "1.0.0", "text")
	ask := chartref.Ask{URL: s.Charts(), Chart: "app", Version: "1.0.0"}
	s.Add("app", "1.0.0", chart, strings.Repeat("0", 64))
	if out := one(t, o, ask); out.Err == nil || !strings.Contains(out.Err.Error(), fetchtest.Sum(chart)) {
		t.Errorf("an index that lies: %v", out.Err)
	}
	hang := func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("entries:"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	s.Answer("/charts/index.yaml", hang)
	impatient := o
	impatient.Stall = 300 * time.Millisecond // a slow machine reaches it earlier, and says the same
	if out := one(t, impatient, ask); out.Err == nil || !strings.Contains(out.Err.Error(), "stopped answering") {
		t.Errorf("a server that hangs: %v", out.Err)
	}
	s.Push("app", "1.0.0", fetchtest.Layer, chart)
	s.Answer("/v2/app/blobs/"+fetchtest.Sum(chart), func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, len(chart))) })
	if out := one(t, o, chartref.Ask{URL: "oci://" + s.Registry() + "/app", Tag: "1.0.0", Insecure: true}); out.Err == nil || !strings.Contains(out.Err.Error(), "other content than "+fetchtest.Sum(chart)) {
		t.Errorf("a registry that lies: %v", out.Err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.Answer("/charts/index.yaml", func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	o.Stall = time.Hour
	if out := Charts(ctx, []chartref.Ask{ask}, o)[0]; out.Err == nil {
		t.Error("what was interrupted is no error")
	}
}

const secret = "s3cr3t-Passw0rd"

// Credentials come from the files of the user's tools, and reach no error and no lock.
func TestCredentials(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("DOCKER_CONFIG", filepath.Join(home, "docker"))
	s, o := fetchtest.New(t), options(t)
	files := map[string]string{}
	o.Env = func(name string) string { return files[name] }
	chart := fetchtest.Chart(t, "app", "1.0.0", "text")
	s.Push("app", "1.0.0", fetchtest.Layer, chart)
	s.Protect("ada", secret)
	ask := chartref.Ask{URL: "oci://" + s.Registry() + "/app", Tag: "1.0.0", Insecure: true}
	if out := one(t, o, ask); out.Err == nil || !strings.Contains(out.Err.Error(), "401") || strings.Contains(out.Err.Error(), secret) {
		t.Errorf("without credentials: %v", out.Err)
	}
	write := func(name, content string) string {
		at := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
		return at
	}
	config := func(password string) string {
		return fmt.Sprintf(`{"auths": {%q: {"username": "ada", "password": %q}}}`, s.Registry(), password)
	}
	files["HELM_REGISTRY_CONFIG"] = write("helm.json", config(secret))
	mustHave(t, o, one(t, o, ask), Fetched, "1.0.0", chart)
	delete(files, "HELM_REGISTRY_CONFIG")
	write("docker/config.json", config(secret))
	o.Cache = cache.New(t.TempDir())
	mustHave(t, o, one(t, o, ask), Fetched, "1.0.0", chart)
	write("docker/config.json", config("wrong-"+secret))
	o.Cache = cache.New(t.TempDir())
	if out := one(t, o, ask); out.Err == nil || strings.Contains(out.Err.Error(), secret) {
		t.Errorf("with wrong credentials: %v", out.Err)
	}

	s.Add("app", "1.0.0", chart, "")
	s.Answer("/charts/index.yaml", func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != secret {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = fmt.Fprintf(w, "entries: {app: [{version: 1.0.0, urls: ['http://eve:%s@%s/charts/no.tgz?token=%s']}]}", secret, s.Registry(), secret)
	})
	ask = chartref.Ask{URL: s.Charts(), Chart: "app", Version: "1.0.0"}
	if out := one(t, o, ask); out.Err == nil || !strings.Contains(out.Err.Error(), "401") {
		t.Errorf("without .netrc: %v", out.Err)
	}
	files["NETRC"] = write("netrc", "machine 127.0.0.1 login ada password "+secret+"\n")
	if out := one(t, o, ask); out.Err == nil || !strings.Contains(out.Err.Error(), "404") || strings.Contains(out.Err.Error(), secret) {
		t.Errorf("an address with credentials: %v", out.Err)
	}
	s.Answer("/charts/no.tgz", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/x?signature="+secret, http.StatusFound)
	})
	if out := one(t, o, ask); out.Err == nil || strings.Contains(out.Err.Error(), secret) {
		t.Errorf("an address that is signed: %v", out.Err)
	}
}

func TestNetrc(t *testing.T) {
	got := parseNetrc("# a comment machine x login y\nmachine a.example login ada password p1\nmachine b.example\n  account z\n  login bob\n\tpassword p2 # more\n" +
		"macdef init\nmachine no login no password no\n\nmachine c.example password p3 login cleo\ndefault login any password all\nmachine d.example login")
	want := map[string][2]string{"a.example": {"ada", "p1"}, "b.example": {"bob", "p2"}, "c.example": {"cleo", "p3"}, "d.example": {"", ""}}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestAddresses(t *testing.T) {
	g := &guard{trusted: func(host string) bool { return host == "trusted" }}
	for address, want := range map[string]string{
		"169.254.169.254": "never", "169.254.1.1": "never", "fe80::1%eth0": "never", "::ffff:169.254.169.254": "never", "64:ff9b::a9fe:a9fe": "never",
		"2002:a9fe:a9fe::1": "never", "fd00:ec2::254": "never", "100.100.100.200": "never", "0.0.0.0": "never", "::": "never", "224.0.0.1": "never", "168.63.129.16": "never",
		"127.0.0.1": "trusted", "::1": "trusted", "10.1.2.3": "trusted", "172.16.0.1": "trusted", "192.168.1.1": "trusted", "100.64.0.1": "trusted", "fd12::1": "trusted",
		"::ffff:10.0.0.1": "trusted", "64:ff9b::a00:1": "trusted", "::7f00:1": "trusted",
		"1.1.1.1": "all", "172.32.0.1": "all", "2606:4700::1111": "all", "64:ff9b::101:101": "all",
	} {
		at := netip.MustParseAddr(address)
		got := "never"
		if g.check("trusted", at) == nil {
			got = "trusted"
		}
		if g.check("stranger", at) == nil {
			got = "all"
		}
		if got != want {
			t.Errorf("%s may be connected to by %s, want %s", address, got, want)
		}
	}
}

// An index of 20,000 versions is read once.
func TestLargeIndex(t *testing.T) {
	s, o := fetchtest.New(t), options(t)
	var index strings.Builder
	index.WriteString("apiVersion: v1\nentries:\n")
	for c := range 100 {
		fmt.Fprintf(&index, "  chart-%d:\n", c)
		for v := range 200 {
			fmt.Fprintf(&index, "  - apiVersion: v2\n    name: chart-%d\n    version: 1.%d.0\n    created: \"2026-01-02T03:04:05.123456789Z\"\n    description: A chart among many\n    urls:\n    - app-1.0.0.tgz\n", c, v)
		}
	}
	chart := fetchtest.Chart(t, "app", "1.0.0", "text")
	s.Add("app", "1.0.0", chart, "")
	s.Answer("/charts/index.yaml", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(index.String())) })
	var asks []chartref.Ask
	for c := range 50 {
		asks = append(asks, chartref.Ask{URL: s.Charts(), Chart: fmt.Sprintf("chart-%d", c), Version: "1.x"})
	}
	for _, out := range Charts(t.Context(), asks, o) {
		if out.Err != nil || out.Entry.Resolved != "1.199.0" {
			t.Fatalf("%s: %v, %v", out.Ask, out.Entry, out.Err)
		}
	}
	if index, archive := s.Requests("/charts/index.yaml"), s.Requests("/charts/app-1.0.0.tgz"); index != 1 || archive != 1 {
		t.Errorf("%d and %d requests", index, archive)
	}
}
