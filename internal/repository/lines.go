package repository

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Lines returns the reader of the repository's source lines. It reads each file once.
func (r *Repository) Lines() *Lines {
	r.linesOnce.Do(func() {
		r.lines = &Lines{repo: r, files: map[string]*masked{}}
		r.lines.Know(r.secretInputs())
	})
	return r.lines
}

// longestLine is the maximum length of a line that is returned, in bytes.
const longestLine = 16 << 10

// Line returns a line of a file, counted from 1, without its end, and whether it exists. If the line is longer than
// 16 KB, it returns the first part. Possible secrets are hidden: values of Secrets
// everywhere, literals of a secretGenerator, values of patches for such fields, private keys, and strings that
// look like credentials. In a file that cannot be parsed, and in one with settings, only evidently public
// values are shown; if it contains the word secret, it has no lines.
func (l *Lines) Line(file string, line int) (string, bool) {
	lines := l.of(file).lines
	if line < 1 || line > len(lines) {
		return "", false
	}
	return l.Without(beginning(lines[line-1])), true
}

func (l *Lines) of(file string) *masked {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, ok := l.files[file]
	if !ok {
		m = l.repo.mask(file)
		m.hide = sync.OnceValue(func() *strings.Replacer { return hiding(m.values) })
		l.files[file] = m
	}
	return m
}

// beginning returns the part of a line that is returned.
func beginning(line string) string {
	if len(line) <= longestLine {
		return line
	}
	end := longestLine
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end]
}
