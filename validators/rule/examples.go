package rule

import (
	_ "embed" // FluxSync
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Example is a small repository.
type Example struct {
	// Files in txtar form (-- path -- lines). In a bad example a line that is to
	// be found ends in the comment "# <-- here".
	Files string
	// Before are the files at the revision that a rule about changes compares
	// with; "" where it is none.
	Before string
}

// Marker ends a line of a bad example that a finding must point at.
const Marker = "# <-- here"

// Examples are those of a rule. They run as tests: in a bad one the rule's findings are at the
// marked lines, in a good one no rule finds anything. Unresolved ones replace bad ones for a rule
// that has no findings: what it cannot decide is at the marked lines.
type Examples struct {
	// File is their path in the file system that they were read from.
	File                  string
	Bad, Unresolved, Good []Example
}

// FluxSync is the sync of a cluster named prod, as `flux bootstrap` writes it, in txtar form.
//
//go:embed examples/flux-sync.txtar
var FluxSync string

// ReadExamples reads the examples of a rule from FOLDER/examples/ID.txtar.
//
// The lines before the first file name the examples: bad, good or unresolved, numbered where there
// are several. The files of an example have its name as their first folder. What follows the colon
// are the examples that it extends: preceding ones of the same file, or whole files of the same
// folder or of rule/examples. A file of its own replaces one of the same path. NAME.before is the
// revision that a rule about changes compares with, declared ahead of NAME.
//
//	bad: flux-sync
//	good: bad
//	-- bad/clusters/prod/apps.yaml --
//	-- good/clusters/prod/apps.yaml --
func ReadExamples(fsys fs.FS, id string) (Examples, error) {
	var all Examples
	found, err := fs.Glob(fsys, "*/examples/"+id+".txtar")
	if err != nil || len(found) != 1 {
		return all, fmt.Errorf("the files with examples of %s are %q, want one", id, found)
	}
	all.File = found[0]
	archive, err := readArchive(fsys, all.File)
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
				if more, err = sharedFiles(fsys, all.File, base); err != nil {
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

// add appends an example to those of its kind.
func (e *Examples) add(name string, example Example) error {
	kind, _, _ := strings.Cut(name, "-")
	list := map[string]*[]Example{"bad": &e.Bad, "unresolved": &e.Unresolved, "good": &e.Good}[kind]
	if list == nil {
		return fmt.Errorf("%s: an example is bad, good or unresolved, not %q", e.File, name)
	}
	*list = append(*list, example)
	return nil
}

// stray returns an error about a file that belongs to no example.
func (e *Examples) stray(archive *txtar.Archive, known map[string][]txtar.File) error {
	for _, f := range archive.Files {
		if name, _, _ := strings.Cut(f.Name, "/"); known[name] == nil {
			return fmt.Errorf("%s: %s belongs to no example", e.File, f.Name)
		}
	}
	return nil
}

// sharedFiles are those of a file that several rules extend.
func sharedFiles(fsys fs.FS, file, name string) ([]txtar.File, error) {
	folder, _, _ := strings.Cut(file, "/")
	archive, err := readArchive(fsys, folder+"/examples/"+name+".txtar")
	if err != nil {
		archive, err = readArchive(fsys, "rule/examples/"+name+".txtar")
	}
	if err != nil {
		return nil, err
	}
	return archive.Files, nil
}

func readArchive(fsys fs.FS, name string) (*txtar.Archive, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	return txtar.Parse(data), nil
}

// filesOf are the files of an archive below a folder.
func filesOf(archive *txtar.Archive, folder string) []txtar.File {
	files := []txtar.File{}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, folder); ok {
			files = append(files, txtar.File{Name: name, Data: f.Data})
		}
	}
	return files
}

// overlay replaces files that have the same path, and appends the others.
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
