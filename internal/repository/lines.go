package repository

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Lines returns the reader of the repository's source lines, which reads each file once.
func (r *Repository) Lines() *Lines {
	r.linesOnce.Do(func() {
		r.lines = &Lines{repo: r, files: map[string]*masked{}}
		r.lines.Know(r.secretInputs())
	})
	return r.lines
}

// longestLine is how much of a line is given, in bytes.
const longestLine = 16 << 10

// Line returns a line of a file, counted from 1, without its end, and whether there is one. Of a line
// above 16 KB it is the beginning. What can be a secret is hidden: values of Secrets wherever they
// stand, literals of a secretGenerator, values of patches that lead to them, private keys, and what
// looks like a credential. Of a file that cannot be parsed, and of one of settings, only evident
// values are shown, and where it speaks of a Secret there is no line.
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

// beginning is the part of a line that is given.
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
