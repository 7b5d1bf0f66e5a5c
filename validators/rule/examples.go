package rule

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed" // FluxSync
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Example is an example of a rule: a small repository.
type Example struct {
	// Files in txtar form (-- path -- lines). In a bad example, a line with a finding ends in the comment "#
	// <-- here".
	Files string
	// Before are the files at the base revision, for a rule about changes; "" otherwise.
	Before string
}

// Marker ends a line of a bad example for which the rule must report a finding.
const Marker = "# <-- here"

// Examples are the examples of a rule. They run as tests. In a bad example, the rule's findings are at the marked lines;
// in a good one, no rule finds anything. A rule without findings has unresolved examples instead of bad ones: the rule's
// unresolved questions are at the marked lines.
type Examples struct {
	// File is the path of the file from which they were read.
	File                  string
	Bad, Unresolved, Good []Example
}

// FluxSync is the sync of a cluster named prod, as `flux bootstrap` writes it, in txtar form.
//
//go:embed examples/flux-sync.txtar
var FluxSync string

// Library maps the paths of the files with examples, FOLDER/examples/NAME.txtar, to their content.
type Library map[string][]byte

// ReadLibrary reads the files with examples below a folder.
func ReadLibrary(fsys fs.FS) (Library, error) {
	names, err := fs.Glob(fsys, "*/examples/*.txtar")
	all := Library{}
	for _, name := range names {
		if all[name], err = fs.ReadFile(fsys, name); err != nil {
			return nil, err
		}
	}
	return all, err
}

// Unpack reads a compressed tar archive of the files.
func Unpack(packed []byte) (Library, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	all := Library{}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if all[header.Name], err = io.ReadAll(files); err != nil {
			return nil, err
		}
	}
}

// ReadExamples reads the examples of a rule from FOLDER/examples/ID.txtar.
//
// The lines before the first file define the examples: bad, good or unresolved, with a number if
// there are several. The name of an example is the first folder of its files. After the colon are the
// examples that it extends: earlier ones of the same file, or whole files in the same folder or in
// rule/examples. A file of the example itself replaces an extended one with the same path. NAME.before
// is the base revision for a rule about changes, and is defined before NAME.
//
//	bad: flux-sync
//	good: bad
//	-- bad/clusters/prod/apps.yaml --
//	-- good/clusters/prod/apps.yaml --
func ReadExamples(library Library, id string) (Examples, error) {
	var all Examples
	var found []string
	for name := range library {
		if path.Base(name) == id+".txtar" {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return all, fmt.Errorf("the files with examples of %s are %q, want one", id, slices.Sorted(slices.Values(found)))
	}
	all.File = found[0]
	archive, err := library.archive(all.File)
	if err != nil {
		return all, err
	}
	known := map[string][]txtar.File{}
	for line := range strings.Lines(string(archive.Comment)) {
		name, extended, _ := strings.Cut(strings.TrimSpace(line), ":")
		var files []txtar.File
		for base := range strings.FieldsSeq(extended) {
			more, there := known[base]
			if !there {
				if more, err = library.shared(all.File, base); err != nil {
					return all, fmt.Errorf("%s: %s: %w", all.File, name, err)
				}
			}
			files = overlay(files, more)
		}
		known[name] = overlay(files, filesOf(archive, name+"/"))
		if strings.HasSuffix(name, ".before") {
			continue
		}
		e := Example{Files: format(known[name])}
		if before, there := known[name+".before"]; there {
			e.Before = format(before)
		}
		if err := all.add(name, e); err != nil {
			return all, err
		}
	}
	return all, all.stray(archive, known)
}

// add adds an example to the list of its kind: bad, unresolved or good.
func (e *Examples) add(name string, example Example) error {
	kind, _, _ := strings.Cut(name, "-")
	list := map[string]*[]Example{"bad": &e.Bad, "unresolved": &e.Unresolved, "good": &e.Good}[kind]
	if list == nil {
		return fmt.Errorf("%s: an example is bad, good or unresolved, not %q", e.File, name)
	}
	*list = append(*list, example)
	return nil
}

// stray returns an error if a file belongs to no example.
func (e *Examples) stray(archive *txtar.Archive, known map[string][]txtar.File) error {
	for _, f := range archive.Files {
		if name, _, _ := strings.Cut(f.Name, "/"); known[name] == nil {
			return fmt.Errorf("%s: %s belongs to no example", e.File, f.Name)
		}
	}
	return nil
}

// shared returns the files of an archive that several rules extend.
func (l Library) shared(file, name string) ([]txtar.File, error) {
	folder, _, _ := strings.Cut(file, "/")
	archive, err := l.archive(folder + "/examples/" + name + ".txtar")
	if err != nil {
		archive, err = l.archive("rule/examples/" + name + ".txtar")
	}
	if err != nil {
		return nil, err
	}
	return archive.Files, nil
}

func (l Library) archive(name string) (*txtar.Archive, error) {
	data, there := l[name]
	if !there {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return txtar.Parse(data), nil
}

// filesOf returns the files of an archive below a folder.
func filesOf(archive *txtar.Archive, folder string) []txtar.File {
	files := []txtar.File{}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, folder); ok {
			files = append(files, txtar.File{Name: name, Data: f.Data})
		}
	}
	return files
}

// overlay returns the files with more added. A file with the same path is replaced.
func overlay(files, more []txtar.File) []txtar.File {
	files = slices.Clone(files)
	for _, m := range more {
		if i := slices.IndexFunc(files, func(f txtar.File) bool { return f.Name == m.Name }); i >= 0 {
			files[i] = m
		} else {
			files = append(files, m)
		}
	}
	return files
}

func format(files []txtar.File) string { return string(txtar.Format(&txtar.Archive{Files: files})) }
