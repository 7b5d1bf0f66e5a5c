package repository

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/parallel"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// Lines returns the reader of the repository's source lines. It reads each file once.
func (r *Repository) Lines() *Lines {
	r.linesOnce.Do(func() { r.lines = &Lines{repo: r, files: map[string][]string{}} })
	return r.lines
}

// Line returns a line of a file, counted from 1, without its end, and whether it is shown: no line of a
// file that holds a possible secret is, and none that is longer than 16 KB.
func (l *Lines) Line(file string, line int) (string, bool) {
	l.mu.Lock()
	lines, ok := l.files[file]
	if !ok {
		lines = l.repo.shownLines(file)
		l.files[file] = lines
	}
	l.mu.Unlock()
	if line < 1 || line > len(lines) {
		return "", false
	}
	return l.Without(lines[line-1]), true
}

// shownLines returns the lines of a file that are shown. Of a file that cannot be parsed and of settings, they have only
// evidently public values.
func (r *Repository) shownLines(file string) []string {
	data, err := r.ReadFile(file)
	if _, found := r.secretsIn(file, true); found || err != nil {
		return nil
	}
	lines := linesOf(data)
	if f, parsed := r.byPath[file]; parsed && f.Err != nil || !parsed && isSettings(file) {
		for i, line := range lines {
			if at := set.FindStringSubmatchIndex(line); at != nil && !mask.IsEvident(credential.Unquoted(line[at[4]:])) {
				lines[i] = line[:at[4]] + mask.Hidden
			}
		}
	}
	return lines
}

// Hide adds strings that no message and no source line of any file may show. It ignores those that are a part of the name
// of an object or a file: messages need these names.
func (l *Lines) Hide(texts []string) {
	l.texts.Add(slices.DeleteFunc(slices.Clone(texts), l.repo.isName)...)
}

// Without returns a text in which the secrets in the files, and the strings that were passed to [Lines.Hide], are hidden.
func (l *Lines) Without(text string) string {
	l.read.Do(func() {
		paths := l.repo.Paths()
		found := make([][]string, len(paths))
		parallel.Each(len(paths), func(i int) {
			texts, _ := l.repo.secretsIn(paths[i], false)
			// Words that are hidden only in quotes occur as names in other files.
			found[i] = slices.DeleteFunc(texts, func(text string) bool { return strings.HasPrefix(text, `"`) })
		})
		for _, texts := range found {
			l.Hide(texts)
		}
		l.Hide(l.repo.inputSecrets())
	})
	return l.texts.Without(text)
}

// Scrub is [Lines.Without] for a message, in which it also hides what looks like a credential.
func (l *Lines) Scrub(text string) string {
	return l.Without(credential.Without(text, mask.Hidden))
}

// secretsIn returns the strings to hide for the secrets in a file, and whether it may hold any. Unless asText is set, it
// searches only the values and comments in YAML, and files of settings.
func (r *Repository) secretsIn(file string, asText bool) (texts []string, found bool) {
	f, parsed := r.byPath[file]
	readable := parsed && f.Err == nil
	if readable {
		for _, d := range f.Documents {
			s := r.searched(d.Root())
			texts, found = append(texts, s.texts...), found || s.found || d.Encrypted
		}
	}
	ofSecret := r.ofSecrets[file]
	if !asText && !parsed && !ofSecret && !isSettings(file) && path.Ext(file) != ".gotmpl" {
		return texts, found
	}
	data, err := r.ReadFile(file)
	if err != nil || !readable && len(data) > mostUnread {
		return texts, true
	}
	found = found || ofSecret || holdsKey(data) || !readable && holdsPassword(file, data)
	for _, line := range linesOf(data) {
		if readable && !ofSecret && (!asText && !strings.Contains(line, "#") || !credential.MayHold(line)) {
			continue
		}
		field, rest := credential.HideIn(line)
		at := set.FindStringSubmatchIndex(line)
		switch {
		case rest != "":
		case at != nil && (ofSecret || !readable && isRandom(credential.Unquoted(line[at[4]:]))):
			rest = line[at[4]:]
		case ofSecret && !isHeader(line):
			rest = line
		}
		if rest != "" {
			found, texts = true, append(texts, restOf(field, rest)...)
		}
	}
	return texts, found
}

// restOf returns the strings to hide in the rest of a line that begins with a secret value.
func restOf(field, rest string) []string {
	return append(mask.Strings(field, rest, true), mask.Strings(field, credential.Unquoted(strings.TrimLeft(rest, "*&!@%|>- ")), true)...)
}

// phrase matches a few ordinary words. More of them may be a seed phrase.
var phrase = regexp.MustCompile(`^[A-Z]?[a-z]+(?: [A-Z]?[a-z]+){1,3}$`)

func isRandom(value string) bool {
	return credential.IsRandom(value) && !phrase.MatchString(value) && !mask.IsEvident(value)
}

// isHeader reports whether a line has a field that is a plain name, and no value.
func isHeader(line string) bool {
	field, ends := strings.CutSuffix(strings.TrimSpace(line), ":")
	return ends && mask.IsPlain(field)
}

// words matches ordinary words in small letters.
var words = regexp.MustCompile(`^[a-z]+(?:[-_.][a-z]+)*$`)

// isName reports whether a text is a name of the repository's objects and files, or a word of one, and consists of ordinary words.
func (r *Repository) isName(text string) bool {
	r.namesOnce.Do(func() {
		r.names = map[string]bool{}
		add := func(name string) {
			r.names[name] = true
			for word := range strings.FieldsFuncSeq(name, func(c rune) bool { return strings.ContainsRune("-_./", c) }) {
				r.names[word] = true
			}
		}
		for o := range r.Objects() {
			add(o.Kind)
			add(o.Name)
			add(o.Namespace)
		}
		for _, file := range r.Paths() {
			add(file)
		}
	})
	return r.names[text] && words.MatchString(text)
}

// set matches a line of settings or YAML that sets a value.
var set = regexp.MustCompile(`^([ \t]*(?:- +)*["']?[A-Za-z0-9_./-]+["']?[ \t]*[:=][ \t]*)(\S.*)$`)

func holdsKey(data []byte) bool {
	return bytes.Contains(data, []byte("AGE-SECRET-KEY-")) || bytes.Contains(data, []byte("PRIVATE KEY"))
}

// holdsPassword reports whether a file that is not parsed may hold a password: it has the format of one that does, speaks
// of secrets, or is a password as a whole.
func holdsPassword(file string, data []byte) bool {
	base := strings.ToLower(path.Base(file))
	return slices.ContainsFunc([]string{"netrc", "pgpass", "git-credentials", "htpasswd"}, func(name string) bool { return strings.HasSuffix(base, name) }) ||
		bytes.Contains(bytes.ToLower(data), []byte("secret")) || len(bytes.Fields(data)) == 1 && credential.IsRandom(string(data))
}

// isSettings reports whether the name of a file is that of a file with settings in a format that is not parsed here.
func isSettings(file string) bool {
	base := strings.ToLower(path.Base(file))
	return strings.HasPrefix(base, ".env") || slices.Contains([]string{".env", ".ini", ".properties", ".conf", ".cfg", ".toml", ".json", ".tfvars", ".txt"}, path.Ext(base))
}

// longestLine is the maximum length of a line that is shown and searched for secrets, in bytes.
const longestLine = 16 << 10

// mostUnread is the maximum size, in bytes, of a file that cannot be parsed and whose lines are shown.
const mostUnread = 256 << 10

// linesOf returns the lines of a file, "" for one that is too long.
func linesOf(data []byte) []string {
	lines := strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n")
	for i, line := range lines {
		if lines[i] = strings.TrimSuffix(line, "\r"); len(line) > longestLine {
			lines[i] = ""
		}
	}
	return lines
}
