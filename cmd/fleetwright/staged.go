package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/validators"
)

// stagedPart holds the files that the next commit changes, and the unchanged files that determine how the changed files
// are used.
type stagedPart struct {
	*gitrepo.Staged
	// around are the paths of these unchanged files.
	around []string
	// large are the files that are too large to read.
	large map[string]bool
}

// readStaged reads the index of the repository around a folder.
func readStaged(s streams, dir string) (*stagedPart, error) {
	index, err := gitrepo.ReadStaged(dir, s.env("GIT_INDEX_FILE"))
	if err != nil {
		if errors.Is(err, gitrepo.ErrNotRepository) {
			return nil, advice.Input(fmt.Errorf("--staged: %w", err), "name a folder in a git repository that has a work tree")
		}
		return nil, err
	}
	p := &stagedPart{Staged: index, large: map[string]bool{}}
	changed, folders := map[string]bool{}, map[string]bool{".": true}
	for _, name := range index.Changed() {
		changed[name] = true
		for dir := path.Dir(name); !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	reads, err := p.readers()
	if err != nil {
		return nil, err
	}
	for _, name := range index.Paths() {
		if !changed[name] && (folders[path.Dir(name)] && speaksForOthers(name) || reads[name]) {
			p.around = append(p.around, name)
		}
	}
	return p, nil
}

// readers returns the kustomizations in other folders that name a staged file which a generator may read. It ignores YAML
// files, because most of them are resources, which are checked on their own.
func (p *stagedPart) readers() (map[string]bool, error) {
	var bases []string
	for _, name := range p.Changed() {
		switch path.Ext(name) {
		case ".yaml", ".yml", ".json", ".md":
		default:
			bases = append(bases, path.Base(name))
		}
	}
	found := map[string]bool{}
	for _, name := range p.Paths() {
		if len(bases) == 0 || !repository.IsKustomization(name) {
			continue
		}
		text, err := p.ReadFile(name)
		if errors.Is(err, gitrepo.ErrLarge) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the index: %w", err)
		}
		found[name] = slices.ContainsFunc(bases, func(base string) bool { return bytes.Contains(text, []byte(base)) })
	}
	return found, nil
}

// speaksForOthers reports whether a file determines how the files in its folder and below are used: who can decrypt them,
// how kustomize and Helm use them, and which of them Flux reads.
func speaksForOthers(name string) bool {
	switch path.Base(name) {
	case secrets.ConfigName, "Chart.yaml", ".sourceignore":
		return true
	}
	return repository.IsKustomization(name)
}

// load loads files of the index as a repository.
func (p *stagedPart) load(names ...[]string) (*repository.Repository, error) {
	sizes, large := map[string]int64{}, []string{}
	for _, name := range slices.Concat(names...) {
		size, err := p.Size(name)
		if err != nil {
			return nil, fmt.Errorf("reading the index: %w", err)
		}
		if sizes[name] = size; size > limits.FileBytes {
			large = append(large, name)
		}
	}
	repo, err := repository.FromReader(maps.All(sizes), p.ReadFile, repository.Options{})
	if err != nil {
		return nil, fmt.Errorf("reading the index: %w", err)
	}
	for _, name := range large {
		if _, reported := repo.File(name); !reported {
			p.large[name] = true
		}
	}
	return repo, nil
}

// repositories returns the files to check together with the unchanged files that determine their use, and the same files
// as they were before the change. The next commit did not cause a finding that both have.
func (p *stagedPart) repositories() (part, before *repository.Repository, err error) {
	if before, err = p.load(p.around); err != nil {
		return nil, nil, err
	}
	if part, err = p.load(p.around, p.Changed()); err != nil {
		return nil, nil, err
	}
	inputs := p.inputs(part)
	if len(inputs) > 0 {
		part, err = p.load(p.around, p.Changed(), inputs)
	}
	return part, before, err
}

// withLarge reports as unresolved the files that are too large to read.
func (p *stagedPart) withLarge(report finding.Report) finding.Report {
	unresolved := report.Unresolved
	for _, name := range slices.Sorted(maps.Keys(p.large)) {
		unresolved = append(unresolved, finding.Unresolved{Rule: "sops-plaintext-secret", File: name, Reason: "cannot determine whether it contains a secret in plaintext: it is " + gitrepo.ErrLarge.Error()})
	}
	return finding.NewReport(report.Findings, unresolved, report.Summary).WithIgnored(report.Ignored)
}

// inputs returns the files that staged kustomizations read for Secrets and that are not staged themselves.
func (p *stagedPart) inputs(part *repository.Repository) []string {
	var found []string
	for _, k := range part.Kustomizes() {
		if k.Spec == nil || !slices.Contains(p.Changed(), k.File.Path) {
			continue
		}
		for _, g := range k.Spec.SecretGenerator {
			for _, input := range slices.Concat(g.EnvSources, g.FileSources) {
				name, inside := repository.Join(k.Dir, inputFile(input))
				if inside && !part.Exists(name) && slices.Contains(p.Paths(), name) {
					found = append(found, name)
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// inputFile returns the file in a generator's entry, which may have a key before it.
func inputFile(entry string) string {
	if _, file, named := strings.Cut(entry, "="); named {
		return file
	}
	return entry
}

// whole returns the repository as of the next commit.
func (p *stagedPart) whole() (*repository.Repository, error) { return p.load(p.Paths()) }

// validationFile returns the configuration of the validation in the next commit.
func (p *stagedPart) validationFile() ([]byte, error) {
	return p.ReadFile(validators.ConfigurationFile)
}
