package repository

import (
	"path"
	"strings"
)

// ignore decides what source-controller leaves out of an artifact: its defaults
// and the .sourceignore files, which have .gitignore's syntax. A pattern of a
// deeper file, or a later one, wins.
type ignore struct {
	patterns []ignorePattern
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
	i := &ignore{}
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
		p.parts = strings.Split(strings.TrimPrefix(line, "/"), "/")
		if line != "" && line != "**/" {
			i.patterns = append(i.patterns, p)
		}
	}
}

// matches says whether a file, or one of the folders it is in, is ignored: a
// file cannot be taken back from an ignored folder.
func (i *ignore) matches(file string) bool {
	for end := 0; end < len(file); {
		next := strings.IndexByte(file[end:], '/')
		if next < 0 {
			return i.last(file, false)
		}
		if i.last(file[:end+next], true) {
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
		if matchParts(pattern.parts, strings.Split(rel, "/")) {
			return !pattern.negated
		}
	}
	return false
}

// matchParts matches path elements; "**" stands for any number of them, at
// least one at the end. Patterns come from a hostile file: runs of "**" are
// folded, and the table keeps the cost at the product of both lengths.
func matchParts(pattern, elements []string) bool {
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
