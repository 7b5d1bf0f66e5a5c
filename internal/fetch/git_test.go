package fetch

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetwright/fleetwright/internal/artifact"
	"github.com/fleetwright/fleetwright/internal/cache"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/fetch/fetchtest"
	"github.com/fleetwright/fleetwright/internal/lock"
)

func sourceOptions(t *testing.T) Options {
	o := options(t)
	o.UpdateSource = func(chartref.Source) bool { return false }
	return o
}

// source fetches one source.
func source(t *testing.T, o Options, ask chartref.Source) SourceOutcome {
	t.Helper()
	return Sources(t.Context(), []chartref.Source{ask}, o)[0]
}

// filesOf are the files of a source that was fetched.
func filesOf(t *testing.T, o Options, out SourceOutcome) map[string]string {
	t.Helper()
	if out.Err != nil {
		t.Fatalf("%s: %v", out.Ask, out.Err)
	}
	data, err := o.Cache.Read(out.Entry.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	files, err := artifact.Unpack(data)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for name, content := range files {
		texts[name] = string(content)
	}
	return texts
}

// Each reference resolves to what git says, and the files are those of git archive.
func TestGitReferences(t *testing.T) {
	s, o := fetchtest.New(t), sourceOptions(t)
	r, address := s.Git(t, "app")
	commits := map[string]string{}
	for _, version := range []string{"v1.0.0", "v1.2.0", "v1.10.0", "v2.0.0-rc.1"} {
		commits[version] = r.Commit(map[string]string{"deploy/a.yaml": version, "README.md": "x"})
		r.Run("tag", "-a", "-m", "release", version)
	}
	r.Run("tag", "light", "v1.2.0")
	r.Run("branch", "old", "v1.0.0")
	r.Run("update-ref", "refs/pull/7/head", "v1.2.0^{}")
	head := r.Commit(map[string]string{"deploy/b.yaml": "b"})
	for _, c := range []struct {
		ask              chartref.Source
		revision, commit string
	}{
		{chartref.Source{Branch: "main"}, "main", head},
		{chartref.Source{Branch: "old"}, "old", commits["v1.0.0"]},
		{chartref.Source{Tag: "v1.2.0"}, "v1.2.0", commits["v1.2.0"]},
		{chartref.Source{Tag: "light"}, "light", commits["v1.2.0"]},
		{chartref.Source{SemVer: "1.x"}, "v1.10.0", commits["v1.10.0"]},
		{chartref.Source{SemVer: ">=1.0.0-0"}, "v2.0.0-rc.1", commits["v2.0.0-rc.1"]},
		{chartref.Source{Name: "refs/pull/7/head"}, "refs/pull/7/head", commits["v1.2.0"]},
		{chartref.Source{Commit: commits["v1.0.0"]}, "", commits["v1.0.0"]},
		{chartref.Source{Commit: commits["v1.2.0"], Branch: "main"}, "main", commits["v1.2.0"]},
		{chartref.Source{Ref: "HEAD"}, "HEAD", head},
		{chartref.Source{Ref: "old"}, "old", commits["v1.0.0"]},
		{chartref.Source{Ref: commits["v1.10.0"]}, "", commits["v1.10.0"]},
	} {
		for _, byName := range []string{"false", "true"} { // whether the server gives commits by their names
			r.Run("config", "uploadpack.allowReachableSHA1InWant", byName)
			c.ask.Kind, c.ask.URL = chartref.Git, address
			o.Cache = cache.New(t.TempDir())
			out := source(t, o, c.ask)
			want := strings.TrimPrefix(c.revision+"@sha1:"+c.commit, "@")
			if out.Err != nil || out.Status != Fetched || out.Entry.Revision != want {
				t.Errorf("%s: %s %q, %v; want %q", c.ask, out.Status, out.Entry.Revision, out.Err, want)
				continue
			}
			listed := strings.Split(r.Run("ls-tree", "-r", "--name-only", c.commit), "\n")
			files := filesOf(t, o, out)
			if got := slices.Sorted(maps.Keys(files)); !slices.Equal(got, listed) || files["deploy/a.yaml"] != r.Run("show", c.commit+":deploy/a.yaml") {
				t.Errorf("%s: the files are %v, those of git are %v", c.ask, got, listed)
			}
			o.Lock = &lock.Lock{}
			o.Lock.PutSource(out.Entry)
			before := s.Requests("")
			if again := source(t, o, c.ask); again.Status != Cached || again.Entry != out.Entry || s.Requests("") > before {
				t.Errorf("%s: a fetch of nothing new: %s, %d requests", c.ask, again.Status, s.Requests("")-before)
			}
			o.Cache = cache.New(t.TempDir())
			if again := source(t, o, c.ask); again.Err != nil || again.Entry != out.Entry {
				t.Errorf("%s: fetched again: %+v, %v", c.ask, again.Entry, again.Err)
			}
			o.Lock = &lock.Lock{}
		}
	}
	r.Run("config", "uploadpack.allowReachableSHA1InWant", "false")
	for want, ask := range map[string]chartref.Source{
		"no heads/none":           {Branch: "none"},
		"no tags/none":            {Tag: "none"},
		`no tag matches "9.x"`:    {SemVer: "9.x"},
		"no branch and no tag":    {Ref: "none"},
		"has no commit 00000":     {Commit: strings.Repeat("0", 40)},
		"is not the name of a co": {Commit: "abc"},
	} {
		ask.Kind, ask.URL = chartref.Git, address
		if out := source(t, o, ask); out.Err == nil || !strings.Contains(out.Err.Error(), want) {
			t.Errorf("%s: the error is %v, want one with %q", ask, out.Err, want)
		}
	}
}

// A branch that moves on stays where the lock has it; a tag that moves is an error that names both commits.
func TestGitLocked(t *testing.T) {
	s, o := fetchtest.New(t), sourceOptions(t)
	r, address := s.Git(t, "app")
	first := r.Commit(map[string]string{"a.yaml": "first"})
	r.Run("tag", "v1.0.0")
	asks := []chartref.Source{{Kind: chartref.Git, URL: address, Branch: "main"}, {Kind: chartref.Git, URL: address, Tag: "v1.0.0"}, {Kind: chartref.Git, URL: address, SemVer: "1.x"}}
	for _, out := range Sources(t.Context(), asks, o) {
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		o.Lock.PutSource(out.Entry)
	}
	second := r.Commit(map[string]string{"a.yaml": "second"})
	r.Run("tag", "--force", "v1.0.0")
	r.Run("tag", "v1.1.0")
	o.Cache = cache.New(t.TempDir())
	if files := filesOf(t, o, source(t, o, asks[0])); files["a.yaml"] != "first" {
		t.Errorf("the branch is %v", files)
	}
	for _, ask := range asks[1:] {
		o.Cache = cache.New(t.TempDir())
		out := source(t, o, ask)
		if which := (*MovedError)(nil); !errors.As(out.Err, &which) || !strings.HasSuffix(which.Locked, first) || !strings.HasSuffix(which.Found, second) {
			t.Errorf("%s: %v, want %s and %s", ask, out.Err, first, second)
		}
	}
	o.UpdateSource = func(chartref.Source) bool { return true }
	for i, want := range []string{"main@sha1:", "v1.0.0@sha1:", "v1.1.0@sha1:"} {
		if out := source(t, o, asks[i]); out.Err != nil || out.Entry.Revision != want+second || out.Was == nil {
			t.Errorf("%s: %+v, %v", asks[i], out.Entry, out.Err)
		}
	}
}

// What source-controller leaves out is left out: by default, by .sourceignore, by spec.ignore; and symlinks.
func TestGitIgnored(t *testing.T) {
	s, o := fetchtest.New(t), sourceOptions(t)
	r, address := s.Git(t, "app")
	r.Commit(map[string]string{"a.yaml": "a", "logo.png": "x", ".github/ci.yaml": "x", "docs/a.yaml": "docs", "deploy/b.yaml": "b", "deploy/c.yaml": "c", "outer.txt": "outer"})
	if err := errors.Join(os.Symlink("../a.yaml", filepath.Join(r.Dir, "deploy", "link.yaml")), os.Symlink("deploy", filepath.Join(r.Dir, "folder")), os.Symlink("/etc/passwd", filepath.Join(r.Dir, "out"))); err != nil {
		t.Fatal(err)
	}
	r.Commit(nil)
	get := func(change func(*chartref.Source)) string {
		ask := chartref.Source{Kind: chartref.Git, URL: address, Branch: "main"}
		change(&ask)
		return strings.Join(slices.Sorted(maps.Keys(filesOf(t, o, source(t, o, ask)))), " ")
	}
	if got := get(func(*chartref.Source) {}); got != "a.yaml deploy/b.yaml deploy/c.yaml docs/a.yaml outer.txt" {
		t.Errorf("by default: %s", got)
	}
	if got := get(func(a *chartref.Source) { a.Ignore = "/*\n!/deploy\n/deploy/c.yaml\n" }); got != "deploy/b.yaml" {
		t.Errorf("spec.ignore: %s", got)
	}
	if got := get(func(a *chartref.Source) { a.Sparse = "deploy\ndoc\n" }); got != "deploy/b.yaml deploy/c.yaml" {
		t.Errorf("spec.sparseCheckout: %s", got)
	}
	if got := get(func(a *chartref.Source) { a.Whole = true }); !strings.Contains(got, "logo.png") || !strings.Contains(got, "deploy/link.yaml") || !strings.Contains(got, "folder/b.yaml") || strings.Contains(got, "out ") {
		t.Errorf("whole: %s", got)
	}
	r.Commit(map[string]string{".sourceignore": "docs\n", "deploy/.sourceignore": "b.yaml\n"})
	if got := get(func(a *chartref.Source) { a.Ignore = "outer.txt" }); strings.Contains(got, "docs") || strings.Contains(got, "b.yaml") || strings.Contains(got, "outer") || !strings.Contains(got, "logo.png") {
		t.Errorf(".sourceignore: %s", got)
	}
}

func TestGitSubmodules(t *testing.T) {
	s, o := fetchtest.New(t), sourceOptions(t)
	inner, _ := s.Git(t, "inner")
	inner.Commit(map[string]string{"inner.yaml": "locked"})
	outer, address := s.Git(t, "outer")
	outer.Commit(map[string]string{"outer.yaml": "outer"})
	outer.Run("submodule", "--quiet", "add", inner.Dir, "modules/inner")
	outer.Run("config", "--file", ".gitmodules", "submodule.modules/inner.url", "../inner")
	outer.Commit(nil)
	inner.Commit(map[string]string{"inner.yaml": "later"})
	ask := chartref.Source{Kind: chartref.Git, URL: address, Branch: "main"}
	if files := filesOf(t, o, source(t, o, ask)); files["modules/inner/inner.yaml"] != "" {
		t.Errorf("without submodules: %v", files)
	}
	ask.Submodules = true
	if files := filesOf(t, o, source(t, o, ask)); files["modules/inner/inner.yaml"] != "locked" || files["outer.yaml"] != "outer" {
		t.Errorf("with submodules: %v", files)
	}
	for url, want := range map[string]string{"http://169.254.169.254/x": "link-local", "file:///etc": "not valid", "http://ada:pw@127.0.0.1/x": "credentials", "http://127.0.0.2:1/x": "private address"} {
		outer.Run("config", "--file", ".gitmodules", "submodule.modules/inner.url", url)
		outer.Commit(nil)
		if out := source(t, o, ask); out.Err == nil || !strings.Contains(out.Err.Error(), want) || strings.Contains(out.Err.Error(), "pw") {
			t.Errorf("%s: %v", url, out.Err)
		}
	}
}

// Credentials are those of netrc, else of the helpers in the user's configuration, and never of a repository's.
func TestGitCredentials(t *testing.T) {
	s, o := fetchtest.New(t), sourceOptions(t)
	r, address := s.Git(t, "app")
	r.Commit(map[string]string{"a.yaml": "a"})
	s.ProtectGit("ada", secret)
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "XDG_CONFIG_HOME": home} {
		t.Setenv(name, value)
	}
	ask := chartref.Source{Kind: chartref.Git, URL: address, Branch: "main"}
	mark := filepath.Join(home, "ran")
	hostile := t.TempDir()
	work := fetchtest.New(t)
	w, _ := work.Git(t, "hostile")
	w.Run("config", "credential.helper", "!touch "+mark+"; echo username=ada; echo password="+secret)
	t.Chdir(w.Dir)
	t.Setenv("GIT_DIR", filepath.Join(w.Dir, ".git"))
	if out := source(t, o, ask); out.Err == nil || !strings.Contains(out.Err.Error(), "401") {
		t.Errorf("without credentials: %v", out.Err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the helper of a repository ran")
	}
	config := "[credential]\n\thelper = \"!f() { echo username=ada; echo password=" + secret + "; }; f\"\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := source(t, o, ask); out.Err != nil {
		t.Errorf("with a helper: %v", out.Err)
	}
	netrc := filepath.Join(hostile, "netrc")
	if err := errors.Join(os.Remove(filepath.Join(home, ".gitconfig")), os.WriteFile(netrc, []byte("machine 127.0.0.1 login ada password "+secret), 0o600)); err != nil {
		t.Fatal(err)
	}
	o.Env = func(name string) string { return map[string]string{"NETRC": netrc}[name] }
	o.Cache = cache.New(t.TempDir())
	if out := source(t, o, ask); out.Err != nil {
		t.Errorf("with netrc: %v", out.Err)
	}
	s.ProtectGit("ada", "other-"+secret)
	o.Cache = cache.New(t.TempDir())
	if out := source(t, o, ask); out.Err == nil || strings.Contains(out.Err.Error(), secret) {
		t.Errorf("with a wrong password: %v", out.Err)
	}
}

// pack is a pack of one object, whose header says a size; of a delta, of one that makes another size.
func pack(kind byte, says int, content []byte) []byte {
	var out bytes.Buffer
	out.WriteString("PACK")
	_ = binary.Write(&out, binary.BigEndian, []uint32{2, 1})
	first, rest := kind<<4|byte(says&15), says>>4
	for rest > 0 {
		out.WriteByte(first | 0x80)
		first, rest = byte(rest&127), rest>>7
	}
	out.WriteByte(first)
	if kind == 7 {
		out.Write(make([]byte, 20))
	}
	zipped := zlib.NewWriter(&out)
	_, _ = zipped.Write(content)
	_ = zipped.Close()
	sum := sha1.Sum(out.Bytes())
	out.Write(sum[:])
	return out.Bytes()
}

// What a Git server does wrong is an error or overcome, and nothing of it gets into the cache.
func TestGitFaults(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	const refs, upload = "/git/app/info/refs", "/git/app/git-upload-pack"
	line := func(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }
	answer := func(body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			kind := "application/x-git-upload-pack-advertisement"
			if r.Method == http.MethodPost {
				kind = "application/x-git-upload-pack-result"
			}
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(body)
		}
	}
	sends := func(pack []byte) http.HandlerFunc { // without a side band
		return func(w http.ResponseWriter, r *http.Request) {
			body := []byte("0000" + line("NAK\n"))
			for part := range slices.Chunk(pack, 60_000) {
				body = append(body, line("\x01"+string(part))...)
			}
			if answer(append(body, "0000"...))(w, r); r.Body != nil {
				_ = r.Body.Close()
			}
		}
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	huge := binary.AppendUvarint(binary.AppendUvarint(nil, 10), 3<<30)
	for _, c := range []struct {
		name, at, want string // want "": it works in the end
		handler        http.HandlerFunc
	}{
		{"not there", refs, "answers 404", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }},
		{"no Git server", refs, "does not answer as a Git server", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) }},
		{"nonsense", refs, "does not answer as a Git server", answer([]byte("hello world"))},
		{"empty", refs, "ends the connection", answer(nil)},
		{"metadata", refs, "link-local or of a metadata service", redirect("http://169.254.169.254/info/refs")},
		{"a private address", refs, "private address", redirect("http://127.0.0.2:1/info/refs")},
		{"elsewhere", refs, "does not answer as a Git server", redirect("/charts/index.yaml")},
		{"cut off", upload, "unexpected EOF", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write([]byte("0000" + line("NAK\n") + line("\x01PACK")))
		}},
		{"refuses", upload, "refuses", answer([]byte(line("ERR upload-pack: not our ref")))},
		{"an error in the side band", upload, "boom", answer([]byte("0000" + line("NAK\n") + line("\x03boom")))},
		{"no pack", upload, "no pack", sends([]byte("hello world, this is no pack at all"))},
		{"a large object", upload, "more than 100 MB", sends(pack(3, 200<<20, []byte("x")))},
		{"an object that lies", upload, "not valid", sends(pack(3, 10, bytes.Repeat([]byte("0"), 50<<20)))},
		{"a delta that makes much", upload, "more than 100 MB", sends(pack(7, len(huge), huge))},
		{"other objects", upload, "has no commit", sends(pack(3, 1, []byte("x")))},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, o := fetchtest.New(t), sourceOptions(t)
			r, address := s.Git(t, "app")
			r.Commit(map[string]string{"a.yaml": "a"})
			s.Answer(c.at, c.handler)
			out := source(t, o, chartref.Source{Kind: chartref.Git, URL: address, Branch: "main"})
			if out.Err == nil || !strings.Contains(out.Err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", out.Err, c.want)
			}
		})
	}
	s, o := fetchtest.New(t), sourceOptions(t)
	r, address := s.Git(t, "app")
	r.Commit(map[string]string{"a.yaml": "a"})
	o.Stall = 300 * time.Millisecond // a slow machine reaches it earlier, and says the same
	s.Answer(upload, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("0000" + line("NAK\n")))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	if out := source(t, o, chartref.Source{Kind: chartref.Git, URL: address, Branch: "main"}); out.Err == nil || !strings.Contains(out.Err.Error(), "stopped answering") {
		t.Errorf("a server that hangs: %v", out.Err)
	}
	if left, err := filepath.Glob(filepath.Join(temporary, "fleetwright-git-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// The files of an artifact are extracted, and nothing leads out of it.
func TestArtifacts(t *testing.T) {
	const layer = "application/vnd.cncf.flux.content.v1.tar+gzip"
	s, o := fetchtest.New(t), sourceOptions(t)
	at := "oci://" + s.Registry() + "/deploy"
	manifest := s.Push("deploy", "1.0.0", "other/type", []byte("x"), layer, fetchtest.Archive(t, map[string]string{"a.yaml": "a", "logo.png": "x", "b/b.yaml": "b"}))
	ask := chartref.Source{Kind: chartref.OCI, URL: at, SemVer: "1.x", MediaType: layer, Insecure: true}
	out := source(t, o, ask)
	if files := filesOf(t, o, out); len(files) != 2 || files["b/b.yaml"] != "b" || out.Entry.Revision != "1.0.0@"+manifest {
		t.Errorf("%v of %s", files, out.Entry.Revision)
	}
	o.Lock.PutSource(out.Entry)
	s.Push("deploy", "1.1.0", layer, fetchtest.Archive(t, map[string]string{"a.yaml": "later"}))
	o.Cache = cache.New(t.TempDir())
	if again := source(t, o, ask); again.Entry != out.Entry || again.Err != nil {
		t.Errorf("%+v, %v", again.Entry, again.Err)
	}
	moved := s.Push("deploy", "1.0.0", layer, fetchtest.Archive(t, map[string]string{"a.yaml": "moved"}))
	o.Cache = cache.New(t.TempDir())
	if which := (*MovedError)(nil); !errors.As(source(t, o, ask).Err, &which) || !strings.Contains(which.Locked, manifest) || !strings.Contains(which.Found, moved) {
		t.Errorf("a tag that moved: %v", which)
	}
	ask.Copy, ask.SemVer, ask.Tag = true, "", "1.0.0"
	s.Push("deploy", "1.0.0", layer, fetchtest.Archive(t, map[string]string{"logo.png": "x"}))
	if files := filesOf(t, o, source(t, o, ask)); files["logo.png"] != "x" {
		t.Errorf("a copied layer: %v", files)
	}
	s.Push("deploy", "evil", layer, fetchtest.Archive(t, map[string]string{"../evil": "x"}))
	ask.Tag = "evil"
	if out := source(t, o, ask); out.Err == nil || !strings.Contains(out.Err.Error(), "leads out of the archive") {
		t.Errorf("an archive that leads out: %v", out.Err)
	}
	s.Push("deploy", "bomb", layer, fetchtest.Archive(t, map[string]string{"bomb": strings.Repeat("0", artifact.Most+1)}))
	ask.Tag = "bomb"
	if out := source(t, o, ask); out.Err == nil || !strings.Contains(out.Err.Error(), "more than") {
		t.Errorf("a bomb: %v", out.Err)
	}
}
