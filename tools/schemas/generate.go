package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// schema is the OpenAPI v3 schema of one kind, in the form of a CRD's
// openAPIV3Schema.
type schema struct {
	Group, Version, Kind string
	// Namespaced reports whether objects of the kind are in a namespace.
	Namespaced bool
	// Partial reports whether the kind may have fields that are not in the schema.
	Partial bool
	Schema  map[string]any
}

// file is the JSON in a data file. Package schemas reads the same structure.
type file struct {
	Group      string         `json:"group"`
	Version    string         `json:"version"`
	Kind       string         `json:"kind"`
	BuiltIn    bool           `json:"builtIn"`
	Namespaced bool           `json:"namespaced"`
	Partial    bool           `json:"partial,omitempty"`
	Schema     map[string]any `json:"schema"`
}

// provenance is the source of a data file's content.
type provenance struct {
	Module string `json:"module"`
	File   string `json:"file"`
	// Sources are the sources of the facts in a description.
	Sources []string `json:"sources,omitempty"`
}

// metadataKind is the pseudo kind for the schema of ObjectMeta.
const metadataKind = "ObjectMeta"

// generate returns the content of each file, by its path under schemas/.
func generate() (map[string][]byte, error) {
	files := map[string][]byte{}
	origin := map[string]provenance{}
	all, err := sources()
	if err != nil {
		return nil, err
	}
	for _, src := range all {
		dir, err := download(src.Module, src.Version)
		if err != nil {
			return nil, err
		}
		inputs, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(src.Pattern)))
		if err != nil || len(inputs) == 0 {
			return nil, fmt.Errorf("%s@%s has no files %s: %w", src.Module, src.Version, src.Pattern, err)
		}
		slices.Sort(inputs)
		for _, input := range inputs {
			rel, err := filepath.Rel(dir, input)
			if err != nil {
				return nil, err
			}
			from := provenance{Module: src.Module + "@" + src.Version, File: filepath.ToSlash(rel)}
			if err := addFile(files, origin, input, src, from); err != nil {
				return nil, fmt.Errorf("%s: %w", rel, err)
			}
		}
	}
	if err := addDescribed(files, origin); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(origin, "", "  ")
	if err != nil {
		return nil, err
	}
	files["PROVENANCE.json"] = append(text, '\n')
	if files["versions.json"], err = versionsFile(); err != nil {
		return nil, err
	}
	files["versions.json.gz"], err = pack(files["versions.json"])
	return files, err
}

func addFile(files map[string][]byte, origin map[string]provenance, input string, src source, from provenance) error {
	data, err := os.ReadFile(input)
	if err != nil {
		return err
	}
	found, err := src.Read(data)
	if err != nil {
		return err
	}
	for _, s := range found {
		name := dataName(s)
		if before, twice := origin[name]; twice {
			// A shared kind is in several OpenAPI documents; the document of its own group has the same
			// content.
			if before.Module != from.Module {
				return fmt.Errorf("%s is in %s too", name, before.Module)
			}
			continue
		}
		content, err := encode(s)
		if err != nil {
			return err
		}
		files[name], origin[name] = content, from
	}
	return nil
}

// dataName returns the path where package schemas looks for a kind.
func dataName(s schema) string {
	group := s.Group
	if group == "" {
		group = "core"
	}
	return fmt.Sprintf("data/%s_%s_%s.json.gz", group, s.Version, s.Kind)
}

func encode(s schema) ([]byte, error) {
	text, err := json.Marshal(file{
		Group: s.Group, Version: s.Version, Kind: s.Kind,
		BuiltIn: isBuiltIn(s), Namespaced: s.Namespaced, Partial: s.Partial, Schema: s.Schema,
	})
	if err != nil {
		return nil, err
	}
	return pack(text)
}

// pack compresses a file that is embedded.
func pack(text []byte) ([]byte, error) {
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err = w.Close()
	return buf.Bytes(), err
}

// isBuiltIn reports whether the API server decodes the kind into a Go type, and does not use a CRD. Only
// readOpenAPI marks such schemas.
func isBuiltIn(s schema) bool {
	_, marked := s.Schema[builtInMark]
	delete(s.Schema, builtInMark)
	return marked
}
