package repository

import (
	"path"
	"slices"
	"strings"
)

// ignore decides what source-controller leaves out of an artifact: its defaults
// and the .sourceignore files, which have .gitignore's syntax. A pattern of a
// deeper file, or a later one, wins.
type ignore struct {
	patterns []ignorePattern
	// folders that were decided; steps is what deciding took.
	folders map[string]bool
	steps   int
}

type ignorePattern struct {
	dir     string
	parts   []string
	negated bool
	dirOnly bool
}

// Source: fluxcd/pkg/sourceignore v0.18, ExcludeCI and ExcludeExtra. What has
// no documents (ExcludeVCS, ExcludeExt) needs no pattern here.
const defaultIgnores = `.github/
.circleci/
.travis.yml
.gitlab-ci.yml
appveyor.yml
.drone.yml
cloudbuild.yaml
codeship-services.yml
codeship-steps.yml
**/.goreleaser.yml
**/.goreleaser.brew.yml
**/.sops.yaml
**/.flux.yaml
`

func newIgnore() *ignore {
	i := &ignore{folders: map[string]bool{}}
	i.add(".", []byte(defaultIgnores))
	return i
}

// add adds the patterns of an ignore file in a folder. Folders come in the
// order of their paths, a parent before its children.
func (i *ignore) add(dir string, data []byte) {
	for line := range strings.SplitSeq(string(data), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || line[0] == '#' {
			continue
		}
		if !strings.HasSuffix(line, `\ `) {
			line = strings.TrimRight(line, " ")
		}
		p := ignorePattern{dir: dir}
		if rest, ok := strings.CutPrefix(line, "!"); ok {
			p.negated, line = true, rest
		}
		line, p.dirOnly = strings.CutSuffix(line, "/")
		// Without a slash in front or between, a pattern matches at any depth.
		if !strings.Contains(line, "/") {
			line = "**/" + line
		}
		p.parts = slices.CompactFunc(strings.Split(strings.TrimPrefix(line, "/"), "/"),
			func(a, b string) bool { return a == "**" && b == "**" })
		if line != "" && line != "**/" && len(p.parts) <= mostParts && len(i.patterns) < mostPatterns {
			i.patterns = append(i.patterns, p)
		}
	}
}

// What goes beyond these is no pattern, so that more is validated, not less:
// the files come from a repository that nobody trusts, and each pattern is tried
// on each file.
const (
	mostPatterns = 500
	mostParts    = 32
	mostSteps    = 50_000_000
)

// matches says whether a file, or one of the folders it is in, is ignored: a
// file cannot be taken back from an ignored folder.
func (i *ignore) matches(file string) bool {
	for end := 0; end < len(file); {
		next := strings.IndexByte(file[end:], '/')
		if next < 0 {
			return i.last(file, false)
		}
		dir := file[:end+next]
		ignored, decided := i.folders[dir]
		if !decided {
			ignored = i.last(dir, true)
			i.folders[dir] = ignored
		}
		if ignored {
			return true
		}
		end += next + 1
	}
	return false
}

// last gives the verdict of the last pattern that matches.
func (i *ignore) last(p string, isDir bool) bool {
	for n := len(i.patterns) - 1; n >= 0; n-- {
		pattern := i.patterns[n]
		if pattern.dirOnly && !isDir {
			continue
		}
		rel := p
		if pattern.dir != "." {
			var inside bool
			if rel, inside = strings.CutPrefix(p, pattern.dir+"/"); !inside {
				continue
			}
		}
		elements := strings.Split(rel, "/")
		if i.steps += len(elements) * len(pattern.parts); i.steps > mostSteps {
			return false
		}
		if matchParts(pattern.parts, elements) {
			return !pattern.negated
		}
	}
	return false
}

// matchParts matches path elements; "**" stands for any number of them, at
// least one at the end. The table keeps the cost at the product of both lengths
// whatever the pattern.
func matchParts(pattern, elements []string) bool {
	if len(pattern) == 2 && pattern[0] == "**" && pattern[1] != "**" {
		ok, err := path.Match(pattern[1], elements[len(elements)-1])
		return ok && err == nil
	}
	if ok, err := path.Match(pattern[0], elements[0]); pattern[0] != "**" && (!ok || err != nil) {
		return false
	}
	reach := make([]bool, len(elements)+1)
	reach[0] = true
	for n, p := range pattern {
		next := make([]bool, len(elements)+1)
		for i := range reach {
			switch {
			case p == "**" && n == len(pattern)-1:
				next[i] = i > 0 && (reach[i-1] || next[i-1])
			case p == "**":
				next[i] = reach[i] || i > 0 && next[i-1]
			case i > 0 && reach[i-1]:
				ok, err := path.Match(p, elements[i-1])
				next[i] = ok && err == nil
			}
		}
		reach = next
	}
	return reach[len(elements)]
}
