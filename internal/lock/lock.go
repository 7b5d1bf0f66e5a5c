// Package lock reads and writes .fleetwright/lock.yaml, which records, for each source on the network, the requested
// version and what it resolved to. A later run on the repository gets the same bytes, or an error.
package lock

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/chartref"
)

// File is the path of the lock from the repository's root.
const File = ".fleetwright/lock.yaml"

const (
	apiVersion = "fleetwright.dev/v1alpha1"
	kind       = "Lock"
	// most is the maximum size of a lock, in bytes; it is enough for about 10,000 charts.
	most = 4 << 20
	head = "# Written by \"fleetwright fetch\": what it downloaded, by digest. Commit this file.\n"
)

// Lock records what sources resolved to.
type Lock struct {
	Charts  []Chart  // sorted by the requested chart
	Sources []Source // sorted by the requested source
}

// Chart records what a requested chart resolved to.
type Chart struct {
	chartref.Ask
	// Resolved is the version of the chart, or the tag of the artifact; "" if only a digest was requested.
	Resolved string
	// Manifest is the digest of the artifact's manifest; "" for a chart in an HTTP(S) repository.
	Manifest string
	// SHA256 is the digest of the chart's archive, sha256:….
	SHA256 string
	// Signature is the digest of the signatures that were verified; "" if none were.
	Signature string
}

// Find returns what a requested chart resolved to.
func (l *Lock) Find(a chartref.Ask) (Chart, bool) {
	at, found := slices.BinarySearchFunc(l.Charts, a, func(c Chart, a chartref.Ask) int { return chartref.Compare(c.Ask, a) })
	if !found {
		return Chart{}, false
	}
	return l.Charts[at], true
}

// Put adds what a requested chart resolved to, and replaces an earlier entry for it.
func (l *Lock) Put(c Chart) {
	at, found := slices.BinarySearchFunc(l.Charts, c.Ask, func(c Chart, a chartref.Ask) int { return chartref.Compare(c.Ask, a) })
	if found {
		l.Charts[at] = c
		return
	}
	l.Charts = slices.Insert(l.Charts, at, c)
}

// document is the form of the file.
type document struct {
	APIVersion string   `yaml:"apiVersion"`
	Kind       string   `yaml:"kind"`
	Metadata   metadata `yaml:"metadata"`
	Spec       spec     `yaml:"spec"`
}

type metadata struct {
	Name        string            `yaml:"name"`
	Annotations map[string]string `yaml:"annotations"`
}

type spec struct {
	Charts  []entry       `yaml:"charts"`
	Sources []sourceEntry `yaml:"sources,omitempty"`
}

type entry struct {
	Chart    string   `yaml:"chart"`
	URL      string   `yaml:"url"`
	Insecure bool     `yaml:"insecure,omitempty"`
	Asked    asked    `yaml:"asked"`
	Resolved resolved `yaml:"resolved"`
}

type asked struct {
	Version      string `yaml:"version,omitempty"`
	Tag          string `yaml:"tag,omitempty"`
	SemVer       string `yaml:"semver,omitempty"`
	SemVerFilter string `yaml:"semverFilter,omitempty"`
	Digest       string `yaml:"digest,omitempty"`
	MediaType    string `yaml:"mediaType,omitempty"`
	Helm         bool   `yaml:"helm,omitempty"`
}

type resolved struct {
	Version  string `yaml:"version,omitempty"`
	Manifest string `yaml:"manifest,omitempty"`
	Digest   string `yaml:"digest"`
	// Signature is the digest of signatures in the cache.
	Signature string `yaml:"signature,omitempty"`
}

// Encode returns the file. It returns the same bytes for the same lock.
func (l *Lock) Encode() ([]byte, error) {
	d := document{APIVersion: apiVersion, Kind: kind, Metadata: metadata{"lock", map[string]string{"config.kubernetes.io/local-config": "true"}}}
	d.Spec.Charts = []entry{}
	for _, c := range l.Charts {
		d.Spec.Charts = append(d.Spec.Charts, entry{c.Name(), c.URL, c.Insecure,
			asked{c.Version, c.Tag, c.SemVer, c.SemVerFilter, c.Digest, c.MediaType, c.Helm}, resolved{c.Resolved, c.Manifest, c.SHA256, c.Signature}})
	}
	for _, s := range l.Sources {
		d.Spec.Sources = append(d.Spec.Sources, encodeSource(s))
	}
	var out bytes.Buffer
	out.WriteString(head)
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(d); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// goType matches the name of a Go type in an error of the decoder.
var goType = regexp.MustCompile(` in type \S+`)

var digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// Decode reads the file strictly. An error begins with the file and, if it is known, the line.
func Decode(data []byte) (*Lock, error) {
	var d document
	if len(data) > most {
		return nil, fmt.Errorf("%s is larger than %d MB", File, most>>20)
	}
	if bytes.HasPrefix(data, []byte("<<<<<<< ")) || bytes.Contains(data, []byte("\n<<<<<<< ")) {
		return nil, fmt.Errorf("%s contains an unresolved merge conflict; take either side and run fleetwright fetch", File)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&d); err != nil {
		text := strings.Replace(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:", "", 1)
		return nil, fmt.Errorf("%s: %s", File, strings.Join(strings.Fields(goType.ReplaceAllString(text, "")), " "))
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s contains more than one document", File)
	}
	if d.APIVersion != apiVersion || d.Kind != kind {
		return nil, fmt.Errorf("%s is not a %s of %s", File, kind, apiVersion)
	}
	l := &Lock{}
	for i, e := range d.Spec.Charts {
		c := Chart{chartref.Ask{URL: e.URL, Version: e.Asked.Version, Tag: e.Asked.Tag, SemVer: e.Asked.SemVer, SemVerFilter: e.Asked.SemVerFilter,
			Digest: e.Asked.Digest, MediaType: e.Asked.MediaType, Insecure: e.Insecure, Helm: e.Asked.Helm}, e.Resolved.Version, e.Resolved.Manifest, e.Resolved.Digest, e.Resolved.Signature}
		if !c.OCI() {
			c.Chart = e.Chart
		}
		switch _, twice := l.Find(c.Ask); {
		case twice:
			return nil, fmt.Errorf("%s: spec.charts[%d] requests the same as another entry", File, i)
		case c.URL == "" || e.Chart != c.Name():
			return nil, fmt.Errorf("%s: spec.charts[%d]: the chart %q is not that of the address %q", File, i, e.Chart, e.URL)
		case !digest.MatchString(c.SHA256), c.Manifest != "" && !digest.MatchString(c.Manifest), c.Signature != "" && !digest.MatchString(c.Signature):
			return nil, fmt.Errorf("%s: spec.charts[%d]: a digest is sha256: and 64 hexadecimal digits", File, i)
		}
		l.Put(c)
	}
	for i, e := range d.Spec.Sources {
		if err := l.addSource(i, e); err != nil {
			return nil, err
		}
	}
	return l, nil
}
