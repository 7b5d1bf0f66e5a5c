//go:build tools

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// registry is an OCI registry on the loopback interface that serves Helm charts as real registries do. It also
// serves several chart repositories, each with an index of many versions.
type registry struct {
	address   string
	manifests map[string][]byte // by repository:tag and repository@digest
	blobs     map[string][]byte // by digest
	indexes   [benchRepositories]bytes.Buffer
	archives  map[string][]byte // by repository-N/FILE
}

// The number of chart repositories, and of versions of each chart in them. An index then has 300 entries; that
// of jetstack has 600, and that of prometheus-community 7,000.
const (
	benchRepositories = 4
	benchVersions     = 100
)

// repositoryOf returns the number of the chart repository that has a chart.
func repositoryOf(chart int) int { return chart % benchRepositories }

// index adds a chart to the index of its repository.
func (r *registry) index(chart int, name, version string) {
	out := &r.indexes[repositoryOf(chart)]
	if out.Len() == 0 {
		out.WriteString("apiVersion: v1\nentries:\n")
	}
	fmt.Fprintf(out, "  %s:\n", name)
	for i := range benchVersions {
		if i > 0 {
			version = fmt.Sprintf("0.%d.0", i)
		}
		sum := sha256.Sum256([]byte(name + version))
		if archive := r.archives[fmt.Sprintf("repository-%d/%s-%s.tgz", repositoryOf(chart), name, version)]; archive != nil {
			sum = sha256.Sum256(archive)
		}
		fmt.Fprintf(out, "    - {apiVersion: v2, name: %s, version: %s, created: 2026-01-01T00:00:00Z, description: A chart, digest: %x, home: https://example.com, urls: [%[1]s-%[2]s.tgz]}\n",
			name, version, sum)
	}
}

// addArchive serves the archive of a chart, from the registry and from a chart repository with an index.
func (r *registry) addArchive(chart int, name, version string, archive []byte) {
	r.archives[fmt.Sprintf("repository-%d/%s-%s.tgz", repositoryOf(chart), name, version)] = archive
	r.push(name, version, archive)
	r.index(chart, name, version)
}

// startRegistry starts a registry on a free port, which runs until the process ends.
func startRegistry() *registry {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	r := &registry{address: listener.Addr().String(), manifests: map[string][]byte{}, blobs: map[string][]byte{}, archives: map[string][]byte{}}
	go func() { check(http.Serve(listener, r)) }() //nolint:gosec // on loopback, for the benchmark alone
	return r
}

// The media types of a chart in a registry.
const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.cncf.helm.config.v1+json"
	chartType    = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// add adds a version of a chart with one template.
func (r *registry) add(name, version string) { r.push(name, version, packChart(name, version)) }

// push serves the archive of a chart as registries do.
func (r *registry) push(name, version string, chart []byte) {
	config := fmt.Appendf(nil, `{"apiVersion":"v2","name":%q,"version":%q}`, name, version)
	type descriptor struct {
		MediaType string `json:"mediaType"`
		Digest    string `json:"digest"`
		Size      int    `json:"size"`
	}
	blob := func(mediaType string, content []byte) descriptor {
		d := digest(content)
		r.blobs[d] = content
		return descriptor{mediaType, d, len(content)}
	}
	manifest, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": manifestType,
		"config": blob(configType, config), "layers": []descriptor{blob(chartType, chart)}})
	check(err)
	r.manifests["charts/"+name+":"+version] = manifest
	r.manifests["charts/"+name+"@"+digest(manifest)] = manifest
}

func digest(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

// packChart packs a chart.
func packChart(name, version string) []byte {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	files := tar.NewWriter(packed)
	for file, content := range benchChart(name, version) {
		check(files.WriteHeader(&tar.Header{Name: name + "/" + file, Mode: 0o644, Size: int64(len(content))}))
		_, err := files.Write([]byte(content))
		check(err)
	}
	check(files.Close())
	check(packed.Close())
	return out.Bytes()
}

// benchChart returns the files of a chart.
func benchChart(name, version string) map[string]string {
	return map[string]string{
		"Chart.yaml":          fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version),
		"templates/data.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {values: {{ toJson .Values | quote }}}\n",
	}
}

// ServeHTTP answers pull requests as the OCI distribution specification requires.
func (r *registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var number int
	if n, err := fmt.Sscanf(request.URL.Path, "/repository-%d/index.yaml", &number); err == nil && n == 1 && number < benchRepositories {
		_, _ = w.Write(r.indexes[number].Bytes())
		return
	}
	if archive := r.archives[strings.TrimPrefix(request.URL.Path, "/")]; archive != nil {
		_, _ = w.Write(archive)
		return
	}
	path, ok := strings.CutPrefix(request.URL.Path, "/v2/")
	content, mediaType := []byte(nil), "application/octet-stream"
	switch {
	case path == "":
		content = []byte("{}")
	case strings.Contains(path, "/manifests/"):
		name, reference, _ := strings.Cut(path, "/manifests/")
		separator := ":"
		if strings.HasPrefix(reference, "sha256:") {
			separator = "@"
		}
		content, ok = r.manifests[name+separator+reference]
		mediaType = manifestType
	case strings.Contains(path, "/blobs/"):
		_, reference, _ := strings.Cut(path, "/blobs/")
		content, ok = r.blobs[reference]
	case strings.HasSuffix(path, "/tags/list"):
		name := strings.TrimSuffix(path, "/tags/list")
		var tags []string
		for known := range r.manifests {
			if tag, is := strings.CutPrefix(known, name+":"); is {
				tags = append(tags, tag)
			}
		}
		content, _ = json.Marshal(map[string]any{"name": name, "tags": tags})
		mediaType = "application/json"
	}
	if !ok || content == nil {
		http.NotFound(w, request)
		return
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	w.Header().Set("Docker-Content-Digest", digest(content))
	if request.Method != http.MethodHead {
		_, _ = w.Write(content)
	}
}
