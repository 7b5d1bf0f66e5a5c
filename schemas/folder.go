package schemas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Limits for reading a folder.
const (
	mostEntries   = 200_000
	largestSchema = 16 << 20
	mostYAML      = 256 << 20
)

// Folder is a folder of schemas: CustomResourceDefinitions in YAML, and JSON
// Schemas in the layouts of catalogs:
// GROUP/KIND_VERSION.json           github.com/datreeio/CRDs-catalog
// KIND_VERSION.json                 kubeconform's openapi2jsonschema.py
// KIND-GROUP-VERSION.json           kubeconform's own, Flux's crd-schemas.tar.gz;
//
//	GROUP may be its first label
//
// All names are in lower case, in folders of any depth (but KIND_VERSION.json only at the top, because it does not name a
// group). Links out of the folder are not followed. A Folder is safe for concurrent use.
type Folder struct {
	name        string
	files       fs.FS
	definitions DefinitionReader
	index       func() folderIndex

	mu      sync.Mutex
	schemas map[schema.GroupVersionKind]func() (*Schema, error)
}

// DefinitionReader returns the CustomResourceDefinitions in YAML files, which are passed by name.
type DefinitionReader func(files map[string][]byte) ([]Definition, error)

// folderIndex lists the schemas in a folder.
type folderIndex struct {
	// json maps names in lower case to JSON files.
	json        map[string][]string
	definitions map[schema.GroupKind][]*Definition
	err         error
	// skipped is the number of files that could not be read; why is the error of the first.
	skipped int
	why     error
}

// OpenFolder opens a folder. The folder is read when a kind without another schema is first looked up.
func OpenFolder(dir string, definitions DefinitionReader) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return NewFolder(dir, root.FS(), definitions), nil
}

// Empty reports whether the folder contains no file that may be a schema; false if that is unknown.
// It stops at the first such file.
func (f *Folder) Empty() bool {
	index := folderIndex{json: map[string][]string{}}
	r := folderReader{folder: f, index: &index, definitions: map[string][]byte{}}
	found := func() bool { return len(index.json)+len(r.definitions)+index.skipped > 0 }
	err := fs.WalkDir(f.files, ".", func(name string, d fs.DirEntry, err error) error {
		if err := r.visit(name, d, err); err != nil {
			return err
		}
		if found() {
			return fs.SkipAll
		}
		return nil
	})
	return err == nil && !found()
}

// NewFolder returns a folder of files; name is its name in messages.
func NewFolder(name string, files fs.FS, definitions DefinitionReader) *Folder {
	f := &Folder{name: name, files: files, definitions: definitions, schemas: map[schema.GroupVersionKind]func() (*Schema, error){}}
	f.index = sync.OnceValue(f.read)
	return f
}

// folderReader reads the files of a folder.
type folderReader struct {
	folder      *Folder
	index       *folderIndex
	definitions map[string][]byte
	entries     int
	size        int
}

// read walks the folder. It finds JSON files by their names, and reads YAML files that contain a
// definition.
func (f *Folder) read() folderIndex {
	found := folderIndex{json: map[string][]string{}, definitions: map[schema.GroupKind][]*Definition{}}
	r := folderReader{folder: f, index: &found, definitions: map[string][]byte{}}
	if found.err = fs.WalkDir(f.files, ".", r.visit); found.err == nil {
		found.err = f.define(found.definitions, r.definitions)
	}
	return found
}

func (r *folderReader) visit(name string, d fs.DirEntry, err error) error {
	if r.entries++; r.entries > mostEntries {
		return fmt.Errorf("%q has more than %d entries", r.folder.name, mostEntries)
	}
	switch {
	case name == ".":
		return err
	case err != nil:
		r.index.skip(name, err)
	case d.IsDir() && strings.HasPrefix(d.Name(), "."):
		return fs.SkipDir
	case d.IsDir():
	case strings.EqualFold(path.Ext(name), ".json"):
		base := strings.ToLower(path.Base(name))
		r.index.json[base] = append(r.index.json[base], name)
	case strings.EqualFold(path.Ext(name), ".yaml"), strings.EqualFold(path.Ext(name), ".yml"):
		return r.yaml(name)
	}
	return nil
}

// yaml reads a YAML file, and keeps its content if it may contain a CustomResourceDefinition.
func (r *folderReader) yaml(name string) error {
	text, err := readFile(r.folder.files, name)
	switch {
	case err != nil:
		r.index.skip(name, err)
	case bytes.Contains(text, []byte(definitionKind)):
		r.definitions[name] = text
		if r.size += len(text); r.size > mostYAML {
			return fmt.Errorf("the definitions in %q are larger than %d MB", r.folder.name, mostYAML>>20)
		}
	}
	return nil
}

// skip records a file that cannot be read.
func (index *folderIndex) skip(name string, err error) {
	if index.skipped++; index.skipped == 1 {
		index.why = fmt.Errorf("%s: %w", name, err)
	}
}

// define adds the definitions in YAML files.
func (f *Folder) define(all map[schema.GroupKind][]*Definition, files map[string][]byte) error {
	if len(files) == 0 {
		return nil
	}
	found, err := f.definitions(files)
	if err != nil {
		return fmt.Errorf("%q cannot be read: %w", f.name, err)
	}
	for _, d := range found {
		d.File = path.Join(f.name, d.File)
		of := schema.GroupKind{Group: d.Group, Kind: d.Kind}
		all[of] = append(all[of], d.compilable(compileValues))
	}
	return nil
}

// defined returns the folder's definitions of a kind.
func (f *Folder) defined(of schema.GroupKind) []*Definition { return f.index().definitions[of] }

// lookup returns the schemas of a kind in the folder; none if there are none.
func (f *Folder) lookup(gvk schema.GroupVersionKind) ([]*Schema, error) {
	index := f.index()
	if index.err != nil {
		return nil, &MissingError{GVK: gvk, Reason: index.err.Error()}
	}
	if found, err := compiled(index.definitions[gvk.GroupKind()], gvk); err != nil || len(found) > 0 {
		return found, err
	}
	name, ok := index.find(gvk)
	if !ok {
		return nil, nil
	}
	f.mu.Lock()
	read := f.schemas[gvk]
	if read == nil {
		read = sync.OnceValues(func() (*Schema, error) { return f.schemaIn(name, gvk) })
		f.schemas[gvk] = read
	}
	f.mu.Unlock()
	s, err := read()
	if err != nil {
		missing := &MissingError{GVK: gvk, Reason: fmt.Sprintf("the JSON Schema in %s cannot be used: %v", path.Join(f.name, name), err)}
		errors.As(err, &missing.Limit)
		return nil, missing
	}
	return []*Schema{s}, nil
}

// find returns the file of a kind's JSON Schema.
func (index folderIndex) find(gvk schema.GroupVersionKind) (string, bool) {
	kind, version, group := strings.ToLower(gvk.Kind), strings.ToLower(gvk.Version), strings.ToLower(gvk.Group)
	label, _, _ := strings.Cut(group, ".")
	for _, candidate := range []struct {
		base string
		fits func(name string) bool
	}{
		{kind + "_" + version + ".json", func(name string) bool { return strings.EqualFold(path.Base(path.Dir(name)), group) }},
		{kind + "-" + group + "-" + version + ".json", func(string) bool { return true }},
		{kind + "-" + label + "-" + version + ".json", func(string) bool { return true }},
		{kind + "_" + version + ".json", func(name string) bool { return path.Dir(name) == "." }},
	} {
		files := index.json[candidate.base]
		slices.Sort(files)
		for _, name := range files {
			if candidate.fits(name) {
				return name, true
			}
		}
	}
	return "", false
}

// schemaIn compiles the JSON Schema in a file.
func (f *Folder) schemaIn(name string, gvk schema.GroupVersionKind) (*Schema, error) {
	text, err := readFile(f.files, name)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("it is not a JSON object: %w", err)
	}
	return FromJSONSchema(gvk, m)
}

func readFile(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", name)
	}
	if info.Size() > largestSchema {
		return nil, fmt.Errorf("%s is larger than %d MB", name, largestSchema>>20)
	}
	return fs.ReadFile(files, name)
}
