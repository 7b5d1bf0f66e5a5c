package repository

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// Lacks reports whether there is certainly neither a file nor a folder at a path, whether Flux sees it or not:
// no symlink leads there, no .gitignore excludes it, no submodule contains it, and the repository is complete.
func (r *Repository) Lacks(at string) bool {
	if r.partial || at == "." || r.Exists(at) || r.Exists(".gitmodules") {
		return false
	}
	u := r.untracked()
	if u.unsure || u.folders[at] {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	elements := strings.Split(at, "/")
	for i := range elements {
		above := path.Join(elements[:i+1]...)
		if r.odd[above] != "" || u.ignored.within(elements[:i+1], i+1 < len(elements)) {
			return false
		}
	}
	return !u.ignored.within(elements, true)
}

// Absence returns why Flux does not see a file or folder that is on the disk, for example because of a .sourceignore;
// "" if nothing is on the disk.
func (r *Repository) Absence(at string) string {
	submodules := r.Submodules()
	for dir := at; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if r.odd[dir] != "" {
			return fmt.Sprintf("%s %s, which source-controller leaves out", dir, r.odd[dir])
		}
		if submodules[dir] {
			return fmt.Sprintf("%s is a submodule, which source-controller leaves out unless the GitRepository sets recurseSubmodules", dir)
		}
	}
	switch by := r.LeftOutBy(at); {
	case by != "":
		return by + " excludes it from the artifact"
	case r.hidden[at] || r.hiddenIn(at) != "":
		return "source-controller excludes it from the artifact by default"
	}
	return ""
}

// Submodules returns the folders of the submodules that .gitmodules lists.
func (r *Repository) Submodules() map[string]bool {
	r.submodulesOnce.Do(func() {
		r.submodules = map[string]bool{}
		data, err := r.ReadFile(".gitmodules")
		if err != nil {
			return
		}
		for line := range strings.Lines(string(data)) {
			if key, folder, found := strings.Cut(line, "="); found && strings.TrimSpace(key) == "path" {
				r.submodules[path.Clean(strings.Trim(strings.TrimSpace(folder), `"`))] = true
			}
		}
	})
	return r.submodules
}

func (r *Repository) findUntracked() *untracked {
	u := &untracked{folders: map[string]bool{}, ignored: &ignore{}}
	var ignores []string
	size := int64(0)
	for file, bytes := range r.paths {
		for dir := path.Dir(file); dir != "." && !u.folders[dir]; dir = path.Dir(dir) {
			u.folders[dir] = true
		}
		if path.Base(file) == ".gitignore" {
			ignores = append(ignores, path.Dir(file))
			size += bytes
		}
	}
	if u.unsure = size > limits.IgnoreBytes; u.unsure {
		return u
	}
	slices.Sort(ignores)
	for _, dir := range ignores {
		data, err := r.ReadFile(path.Join(dir, ".gitignore"))
		if err != nil {
			u.unsure = true
			return u
		}
		u.ignored.add(dir, data)
	}
	u.unsure = len(u.ignored.patterns) >= limits.IgnorePatterns
	return u
}
