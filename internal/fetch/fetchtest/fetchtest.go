// Package fetchtest provides servers for tests, on loopback: a chart repository, a small registry, Git repositories, and
// buckets.
package fetchtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Chart returns the archive of a chart with one ConfigMap, which contains the text.
func Chart(t testing.TB, name, version, text string) []byte {
	t.Helper()
	return Archive(t, map[string]string{
		name + "/Chart.yaml": fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version),
		name + "/templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\n" +
			fmt.Sprintf("data: {text: %q, value: {{ .Values.value | default \"none\" | quote }}}\n", text),
	})
}

// Archive packs files.
func Archive(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	packed := tar.NewWriter(zipped)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := packed.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := packed.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Sum returns the digest of content.
func Sum(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// Server is a chart repository below /charts, and a registry.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	requests map[string]int
	answers  map[string]http.HandlerFunc
	versions []version
	blobs    map[string][]byte
	tags     map[string]map[string][]byte // repository → tag or digest → manifest
	user     string
	password string

	git                  map[string]http.Handler
	gitUser, gitPassword string

	buckets map[string]*bucket
}

type version struct{ name, version, url, digest string }

// New starts a server.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{requests: map[string]int{}, answers: map[string]http.HandlerFunc{}, blobs: map[string][]byte{}, tags: map[string]map[string][]byte{}, git: map[string]http.Handler{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// Requests returns how often a path was requested; "" counts all requests.
func (s *Server) Requests(at string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at != "" {
		return s.requests[at]
	}
	n := 0
	for _, count := range s.requests {
		n += count
	}
	return n
}

// Answer registers a handler for the requests for a path.
func (s *Server) Answer(at string, handler http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[at] = handler
}

// Protect protects the registry with a token, which it issues to a user.
func (s *Server) Protect(user, password string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user, s.password = user, password
}

// Charts returns the address of the chart repository.
func (s *Server) Charts() string { return s.URL + "/charts" }

// Registry returns the host of the registry.
func (s *Server) Registry() string { return strings.TrimPrefix(s.URL, "http://") }

// Add adds a chart to the repository. If the digest is "", Add computes it.
func (s *Server) Add(name, v string, archive []byte, digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	file := name + "-" + v + ".tgz"
	if digest == "" {
		digest = strings.TrimPrefix(Sum(archive), "sha256:")
	}
	s.versions = slices.DeleteFunc(s.versions, func(old version) bool { return old.name == name && old.version == v })
	s.versions = append(s.versions, version{name, v, file, digest})
	s.blobs["/charts/"+file] = archive
}

// Push adds an artifact to the registry, and returns the digest of its manifest. Each pair of arguments is the media type and
// the content of a layer.
func (s *Server) Push(repository, tag string, layers ...any) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	type descriptor struct {
		MediaType string `json:"mediaType"`
		Digest    string `json:"digest"`
		Size      int    `json:"size"`
	}
	manifest := struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Config        descriptor   `json:"config"`
		Layers        []descriptor `json:"layers"`
	}{2, manifestType, descriptor{"application/vnd.cncf.helm.config.v1+json", Sum([]byte("{}")), 2}, nil}
	s.blobs["/v2/"+repository+"/blobs/"+manifest.Config.Digest] = []byte("{}")
	for i := 0; i+1 < len(layers); i += 2 {
		data := layers[i+1].([]byte)
		manifest.Layers = append(manifest.Layers, descriptor{layers[i].(string), Sum(data), len(data)})
		s.blobs["/v2/"+repository+"/blobs/"+Sum(data)] = data
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		panic(err)
	}
	if s.tags[repository] == nil {
		s.tags[repository] = map[string][]byte{}
	}
	s.tags[repository][tag], s.tags[repository][Sum(text)] = text, text
	return Sum(text)
}

// Layer is the media type of a chart that Helm pushes.
const Layer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

const manifestType = "application/vnd.oci.image.manifest.v1+json"

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests[r.URL.Path]++
	answer := s.answers[r.URL.Path]
	s.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	if s.serveGit(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.serveBucket(w, r) {
		return
	}
	switch {
	case r.URL.Path == "/token":
		s.token(w, r)
	case s.user != "" && strings.HasPrefix(r.URL.Path, "/v2/") && r.Header.Get("Authorization") != "Bearer "+s.password+"-token":
		w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer realm=%q,service=%q", s.URL+"/token", "registry"))
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == "/charts/index.yaml":
		s.index(w)
	case strings.HasSuffix(r.URL.Path, "/tags/list"):
		s.list(w, strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/v2/"), "/tags/list"))
	case strings.Contains(r.URL.Path, "/manifests/"):
		repository, reference, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/"), "/manifests/")
		send(w, s.tags[repository][reference], manifestType)
	default:
		send(w, s.blobs[r.URL.Path], "application/octet-stream")
	}
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if user, password, _ := r.BasicAuth(); user != s.user || password != s.password {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = fmt.Fprintf(w, `{"token": %q}`, s.password+"-token")
}

func (s *Server) index(w http.ResponseWriter) {
	by := map[string][]map[string]any{}
	for _, v := range s.versions {
		by[v.name] = append(by[v.name], map[string]any{"name": v.name, "version": v.version, "urls": []string{v.url}, "digest": v.digest, "created": "2026-01-02T03:04:05Z"})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "v1", "entries": by}) // JSON is YAML
}

func (s *Server) list(w http.ResponseWriter, repository string) {
	var tags []string
	for tag := range s.tags[repository] {
		if !strings.Contains(tag, ":") {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	_ = json.NewEncoder(w).Encode(map[string]any{"name": path.Base(repository), "tags": tags})
}

func send(w http.ResponseWriter, data []byte, mediaType string) {
	if data == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Docker-Content-Digest", Sum(data))
	_, _ = w.Write(data)
}
