// Command specschema writes the files that are generated from the Go types of the input
// kinds: the JSON Schemas of schemas/ and docs/specification.md.
//
//	go -C tools/specschema run . -schemas ../../schemas -docs ../../docs
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// typesFolder is the folder of the Go types, relative to this module.
const typesFolder = "../../api/v1alpha1"

func main() {
	schemas := flag.String("schemas", "../../schemas", "folder of the JSON Schemas")
	docs := flag.String("docs", "../../docs", "folder of specification.md")
	flag.Parse()
	if err := run(*schemas, *docs); err != nil {
		fmt.Fprintln(os.Stderr, "specschema:", err)
		os.Exit(1)
	}
}

// run writes all generated files.
func run(schemas, docs string) error {
	files, err := generate(typesFolder)
	if err != nil {
		return err
	}
	for _, f := range files {
		folder := schemas
		if filepath.Ext(f.name) == ".md" {
			folder = docs
		}
		if err := os.WriteFile(filepath.Join(folder, f.name), f.content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// file is a generated file: a schema, or the reference of the kinds.
type file struct {
	name    string
	content []byte
}

// generate generates all files from the types and their comments.
func generate(types string) ([]file, error) {
	kinds, err := reflectKinds(types)
	if err != nil {
		return nil, err
	}
	var files []file
	texts := map[string]string{}
	for _, k := range kinds {
		content, err := k.document()
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", k.name, err)
		}
		files = append(files, file{name: k.fileName(), content: content})
		kind, _, _ := strings.Cut(k.fileName(), "_")
		texts[kind] = string(content)
	}
	packed, err := pack(texts)
	if err != nil {
		return nil, err
	}
	files = append(files, file{name: packedName, content: packed})
	all, err := combined(kinds)
	if err != nil {
		return nil, err
	}
	reference, err := reference(kinds)
	if err != nil {
		return nil, err
	}
	return append(files, file{name: combinedName, content: all}, file{name: "specification.md", content: reference}), nil
}

// packedName is the name of the file with the schemas of all kinds that the executable embeds.
const packedName = "specification.json.gz"

// pack compresses the schemas of all kinds into one file, by lower-case kind.
func pack(texts map[string]string) ([]byte, error) {
	content, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}
