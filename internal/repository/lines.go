package repository

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
)

// Lines gives source lines of a repository for messages, with secrets hidden.
// It keeps the files that it read and is safe for concurrent use.
type Lines struct {
	repo  *Repository
	mu    sync.Mutex
	files map[string][]string
}

// Lines returns a reader of source lines.
func (r *Repository) Lines() *Lines { return &Lines{repo: r, files: map[string][]string{}} }

// longestLine is how much of a line is given, in bytes.
const longestLine = 16 << 10

// Line returns a line of a file, counted from 1, without its end, and whether
// there is one. Of a line above 16 KB it is the beginning. Values of a Secret's data and stringData, literals of a
// secretGenerator, and private keys are hidden. Of a file that cannot be parsed
// and speaks of a Secret there is no line.
func (l *Lines) Line(file string, line int) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines, ok := l.files[file]
	if !ok {
		lines = l.repo.maskedLines(file)
		l.files[file] = lines
	}
	if line < 1 || line > len(lines) {
		return "", false
	}
	return beginning(lines[line-1]), true
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

func (r *Repository) maskedLines(path string) []string {
	data, err := r.ReadFile(path)
	if err != nil {
		return nil
	}
	f, parsed := r.byPath[path]
	if parsed && f.Err != nil || !parsed {
		if bytes.Contains(bytes.ToLower(data), []byte("secret")) {
			return nil
		}
	}
	lines := strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
		if strings.Contains(lines[i], "AGE-SECRET-KEY-") || strings.Contains(lines[i], "PRIVATE KEY") {
			lines[i] = finding.Hidden
		}
	}
	if parsed {
		for i, d := range f.Documents {
			end := len(lines)
			if i+1 < len(f.Documents) {
				end = f.Documents[i+1].Line - 1
			}
			hideSecrets(lines, d, end)
		}
	}
	return lines
}

// hideSecrets masks the secret parts of a document, whose lines end at end; of one that is
// encrypted too, since a value may have been put into it in clear.
func hideSecrets(lines []string, d *Document, end int) {
	for i, o := range d.Objects {
		last := end
		if i+1 < len(d.Objects) {
			last = d.Objects[i+1].Node.Line - 1
		}
		if o.Kind == "Secret" {
			hideField(lines, o.Node, "data", last)
			hideField(lines, o.Node, "stringData", last)
		}
	}
	// The field is spelled in any case.
	for _, key := range keysOf(d.Root()) {
		if strings.EqualFold(key.Value, "secretGenerator") {
			hideField(lines, d.Root(), key.Value, end)
		}
	}
}

// hideField masks the values under a field of a mapping: from its key to the
// next key of the mapping, or to the last line. The names of keys stay.
func hideField(lines []string, m *yaml.Node, name string, last int) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		if key.Value != name {
			continue
		}
		end := last
		for _, other := range m.Content[i+1:] {
			if other.Line > key.Line && other != value {
				end = min(end, other.Line-1)
				break
			}
		}
		hideRange(lines, key, value, end)
	}
}

func hideRange(lines []string, key, value *yaml.Node, end int) {
	// An alias's values stand elsewhere.
	if target := resolve(value); target != value {
		hideTarget(lines, target)
		return
	}
	names := map[int]*yaml.Node{}
	if value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle == 0 {
		for i := 0; i < len(value.Content); i += 2 {
			names[value.Content[i].Line] = value.Content[i]
			if v := value.Content[i+1]; v.Kind == yaml.AliasNode {
				hideTarget(lines, v.Alias)
			}
		}
	}
	for n := key.Line; n <= end && n <= len(lines); n++ {
		line := &lines[n-1]
		switch name := names[n]; {
		case n == key.Line:
			*line = keep(*line, key)
			if value.Line > n {
				*line = strings.TrimSuffix(*line, " "+finding.Hidden)
			}
		case name != nil:
			*line = keep(*line, name)
		case strings.TrimSpace(*line) != "":
			*line = finding.Hidden
		}
	}
}

// hideTarget masks every line of an anchored value, whose end is the last line
// of its last node; a block of text runs on until the line's indent drops, which
// isn't known here, so that it is taken by its number of lines.
func hideTarget(lines []string, n *yaml.Node) {
	for at := n.Line; at <= n.Line+strings.Count(n.Value, "\n")+1 && at <= len(lines); at++ {
		if at >= 1 && (at == n.Line || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0) {
			lines[at-1] = finding.Hidden
		}
	}
	for _, c := range n.Content {
		hideTarget(lines, c)
	}
}

// keep leaves a line up to its key.
func keep(line string, key *yaml.Node) string {
	runes := []rune(line)
	start := min(key.Column-1, len(runes))
	return string(runes[:start]) + key.Value + ": " + finding.Hidden
}
