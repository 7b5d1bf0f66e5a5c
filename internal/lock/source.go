package lock

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/chartref"
)

// Source records what a source of files resolved to.
type Source struct {
	chartref.Source
	// Revision is the revision as Flux writes it: main@sha1:…, latest@sha256:… or sha256:…; "" for a single file.
	Revision string
	// SHA256 is the digest of the archive of the files, sha256:….
	SHA256 string
}

func compareSource(s Source, asked chartref.Source) int {
	return chartref.CompareSources(s.Source, asked)
}

// FindSource returns what a source resolved to.
func (l *Lock) FindSource(s chartref.Source) (Source, bool) {
	at, found := slices.BinarySearchFunc(l.Sources, s, compareSource)
	if !found {
		return Source{}, false
	}
	return l.Sources[at], true
}

// PutSource adds what a source resolved to, and replaces an earlier entry for it.
func (l *Lock) PutSource(s Source) {
	at, found := slices.BinarySearchFunc(l.Sources, s.Source, compareSource)
	if found {
		l.Sources[at] = s
		return
	}
	l.Sources = slices.Insert(l.Sources, at, s)
}

// sourceEntry is the form of a Source in the file.
type sourceEntry struct {
	Kind     string         `yaml:"kind"`
	URL      string         `yaml:"url"`
	Insecure bool           `yaml:"insecure,omitempty"`
	Asked    sourceAsked    `yaml:"asked,omitempty"`
	Resolved sourceResolved `yaml:"resolved"`
}

type sourceAsked struct {
	Branch       string `yaml:"branch,omitempty"`
	Tag          string `yaml:"tag,omitempty"`
	SemVer       string `yaml:"semver,omitempty"`
	SemVerFilter string `yaml:"semverFilter,omitempty"`
	Name         string `yaml:"name,omitempty"`
	Commit       string `yaml:"commit,omitempty"`
	Ref          string `yaml:"ref,omitempty"`
	Digest       string `yaml:"digest,omitempty"`
	MediaType    string `yaml:"mediaType,omitempty"`
	Copy         bool   `yaml:"copy,omitempty"`
	Submodules   bool   `yaml:"submodules,omitempty"`
	Sparse       string `yaml:"sparseCheckout,omitempty"`
	Ignore       string `yaml:"ignore,omitempty"`
	Whole        bool   `yaml:"whole,omitempty"`
	Prefix       string `yaml:"prefix,omitempty"`
	Region       string `yaml:"region,omitempty"`
}

type sourceResolved struct {
	Revision string `yaml:"revision,omitempty"`
	Digest   string `yaml:"digest"`
}

func encodeSource(s Source) sourceEntry {
	return sourceEntry{s.Kind, s.URL, s.Insecure, sourceAsked{s.Branch, s.Tag, s.SemVer, s.SemVerFilter, s.Name, s.Commit, s.Ref, s.Digest,
		s.MediaType, s.Copy, s.Submodules, s.Sparse, s.Ignore, s.Whole, s.Prefix, s.Region}, sourceResolved{s.Revision, s.SHA256}}
}

// addSource adds the ith source in the file.
func (l *Lock) addSource(i int, e sourceEntry) error {
	a := e.Asked
	s := Source{chartref.Source{Kind: e.Kind, URL: e.URL, Branch: a.Branch, Tag: a.Tag, SemVer: a.SemVer, SemVerFilter: a.SemVerFilter, Name: a.Name,
		Commit: a.Commit, Ref: a.Ref, Digest: a.Digest, MediaType: a.MediaType, Copy: a.Copy, Insecure: e.Insecure, Submodules: a.Submodules,
		Sparse: a.Sparse, Ignore: a.Ignore, Whole: a.Whole, Prefix: a.Prefix, Region: a.Region}, e.Resolved.Revision, e.Resolved.Digest}
	switch _, twice := l.FindSource(s.Source); {
	case twice:
		return fmt.Errorf("%s: spec.sources[%d] requests the same as another entry", File, i)
	case s.URL == "" || !slices.Contains([]string{chartref.Git, chartref.OCI, chartref.File, chartref.Bucket}, s.Kind):
		return fmt.Errorf("%s: spec.sources[%d]: the kind %q is not git, oci, file or bucket", File, i, e.Kind)
	case !digest.MatchString(s.SHA256):
		return fmt.Errorf("%s: spec.sources[%d]: a digest is sha256: and 64 hexadecimal digits", File, i)
	}
	l.PutSource(s)
	return nil
}
