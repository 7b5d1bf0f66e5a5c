package gitrepo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Limits of git's attributes files. Longer lines are ignored, as git does.
const (
	maxAttributes     = 4 << 20
	maxAttributesLine = 2048
)

// byteAttributes are the attributes whose values make git store other bytes than a file contains.
var byteAttributes = []string{"filter", "working-tree-encoding"}

// attributeLine is a line of an attributes file that sets one of byteAttributes.
type attributeLine struct {
	file    string
	line    int
	pattern *regexp.Regexp
	// base is set if the pattern matches only the last element of a path.
	base bool
	set  map[string]string // "" resets an earlier value
}

// attributesFile is an attributes file, with the folder that its patterns are relative to.
type attributesFile struct {
	dir   string
	lines []attributeLine
}

// attributes are the attributes files of a repository that have been read.
type attributes struct {
	read    func(path string) ([]byte, error)
	fold    bool
	macros  map[string]map[string]string
	above   []attributesFile // info/attributes: takes precedence over all others
	below   []attributesFile // the user's and the system's: all others take precedence
	folders map[string]attributesFile
}

// checkFilters returns an error for changes that git would store differently: through a filter, such as Git LFS, or
// in another encoding. This package runs no filter, so a commit would store the wrong bytes.
func (b *Branch) checkFilters(changes []Change) error {
	a, err := b.attributes(changes)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.Delete {
			continue
		}
		if err := a.check(c.Path); err != nil {
			return err
		}
	}
	return nil
}

// attributes reads the attributes files that apply to all folders.
func (b *Branch) attributes(changes []Change) (*attributes, error) {
	a := &attributes{
		fold: b.layout.config.isTrue("core", "ignorecase", false), folders: map[string]attributesFile{},
		macros: map[string]map[string]string{},
		read: func(p string) ([]byte, error) {
			if i := slices.IndexFunc(changes, func(c Change) bool { return c.Path == p && !c.Delete }); i >= 0 {
				return changes[i].Content, nil
			}
			if b.layout.work != "" {
				if data, err := readPlain(filepath.Join(b.layout.work, filepath.FromSlash(p))); err == nil {
					return data, nil
				}
			}
			return b.ReadFile(p)
		},
	}
	settings, err := readSettings(b.env, b.layout.work)
	if err != nil {
		return nil, err
	}
	// git reads in this order: a macro applies to all later files, but the last file has the lowest precedence.
	for _, file := range settings.attributesFiles() {
		a.add(&a.below, file)
	}
	slices.Reverse(a.below)
	a.folder("")
	a.add(&a.above, filepath.Join(b.layout.common, "info", "attributes"))
	return a, nil
}

// attributesFiles returns the paths of the system's and the user's attributes files.
func (s settings) attributesFiles() []string {
	var files []string
	if off := s.env("GIT_ATTR_NOSYSTEM"); off == "" || off == "0" || off == "false" {
		files = append(files, "/etc/gitattributes")
	}
	home := s.env("HOME")
	user := s.values["core.attributesfile"]
	if rest, ok := strings.CutPrefix(user, "~/"); ok {
		user = filepath.Join(home, rest)
	}
	if user == "" && (home != "" || s.env("XDG_CONFIG_HOME") != "") {
		user = filepath.Join(first(s.env("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git", "attributes")
	}
	if user != "" {
		files = append(files, user)
	}
	return files
}

func (a *attributes) add(to *[]attributesFile, file string) {
	if data, err := readPlain(file); err == nil {
		*to = append(*to, a.parse("", file, data, true))
	}
}

// readPlain reads a regular file of limited size; it does not follow links.
func readPlain(file string) ([]byte, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid
	}
	return readBounded(file, maxAttributes)
}

// folder reads the .gitattributes of a folder.
func (a *attributes) folder(dir string) attributesFile {
	if f, known := a.folders[dir]; known {
		return f
	}
	file := path.Join(dir, ".gitattributes")
	f := attributesFile{dir: dir}
	if data, err := a.read(file); err == nil && len(data) <= maxAttributes {
		f = a.parse(dir, file, data, dir == "")
	}
	a.folders[dir] = f
	return f
}

// check returns an error for a path whose attributes change its bytes.
func (a *attributes) check(p string) error {
	for _, name := range byteAttributes {
		at, value := a.value(p, name)
		if value == "" || name == "working-tree-encoding" && strings.EqualFold(strings.ReplaceAll(value, "-", ""), "utf8") {
			continue
		}
		return &Advice{
			fmt.Errorf("%w: %q has the attribute %s=%s, by %s:%d, and would be committed without", ErrFilter, p, name, value, at.file, at.line),
			`run "fleetwright render" and commit with git; or take the path out, with a later line "` + p + " -" + name + `"`,
		}
	}
	return nil
}

// value returns the value of an attribute of a path, and the line that sets it; both are empty if there is none.
func (a *attributes) value(p, name string) (attributeLine, string) {
	files := slices.Clone(a.above)
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		if dir == "." {
			files = append(files, a.folder(""))
			break
		}
		files = append(files, a.folder(dir))
	}
	for _, f := range append(files, a.below...) {
		below := strings.TrimPrefix(strings.TrimPrefix(p, f.dir), "/")
		for _, line := range slices.Backward(f.lines) {
			value, says := line.set[name]
			if says && line.matches(below) {
				return line, value
			}
		}
	}
	return attributeLine{}, ""
}

func (l attributeLine) matches(p string) bool {
	if l.base {
		p = path.Base(p)
	}
	return l.pattern.MatchString(p)
}

// parse parses an attributes file. If macros is set, it may define macros, which later files can use.
// Source: git's attr.c, parse_attr_line.
func (a *attributes) parse(dir, file string, data []byte, macros bool) attributesFile {
	f := attributesFile{dir: dir}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.Trim(line, " \t\r\n")
		if line == "" || line[0] == '#' || len(line) > maxAttributesLine {
			continue
		}
		pattern, rest, err := cutPattern(line)
		if err != nil {
			continue
		}
		set := a.states(strings.Fields(rest))
		if name, ok := strings.CutPrefix(pattern, "[attr]"); ok {
			if name = cmp.Or(name, firstField(rest)); macros {
				a.macros[name] = set
			}
			continue
		}
		if len(set) == 0 || strings.HasPrefix(pattern, "!") || strings.HasSuffix(pattern, "/") {
			continue // git ignores negative patterns, and a trailing slash matches only folders
		}
		l := attributeLine{file: file, line: number, set: set, base: !strings.Contains(pattern, "/")}
		if l.pattern, err = globPattern(strings.TrimPrefix(pattern, "/"), a.fold); err == nil {
			f.lines = append(f.lines, l)
		}
	}
	return f
}

func firstField(s string) string {
	if fields := strings.Fields(s); len(fields) > 0 {
		return fields[0]
	}
	return ""
}

// states returns the values of byteAttributes that the words of a line set.
func (a *attributes) states(words []string) map[string]string {
	set := map[string]string{}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		off := strings.HasPrefix(name, "-") || strings.HasPrefix(name, "!")
		name = strings.TrimLeft(name, "-!")
		if slices.Contains(byteAttributes, name) {
			if off {
				value = ""
			}
			set[name] = value
		}
		for inner, value := range a.macros[name] {
			if off {
				continue
			}
			set[inner] = value
		}
	}
	return set
}

// cutPattern splits a line into its pattern and the rest; a quoted pattern has the escapes of C.
func cutPattern(line string) (pattern, rest string, err error) {
	if line[0] != '"' {
		at := strings.IndexAny(line, " \t")
		if at < 0 {
			return line, "", nil
		}
		return line[:at], line[at:], nil
	}
	var out strings.Builder
	for i := 1; i < len(line); i++ {
		switch c := line[i]; c {
		case '"':
			return out.String(), line[i+1:], nil
		case '\\':
			i++
			if i >= len(line) {
				return "", "", errors.New("an open quote")
			}
			if c, n := escaped(line[i:]); n > 0 {
				out.WriteByte(c)
				i += n - 1
				continue
			}
			return "", "", errors.New("an unknown escape")
		default:
			out.WriteByte(c)
		}
	}
	return "", "", errors.New("an open quote")
}

// escaped returns the byte for the escape after a backslash, and the length of the escape in bytes; 0 if it is invalid.
func escaped(s string) (byte, int) {
	const letters, bytes = `abfnrtv\"`, "\a\b\f\n\r\t\v\\\""
	if i := strings.IndexByte(letters, s[0]); i >= 0 {
		return bytes[i], 1
	}
	if len(s) < 3 || strings.Trim(s[:3], "01234567") != "" || s[0] > '3' {
		return 0, 0
	}
	return (s[0]-'0')<<6 | (s[1]-'0')<<3 | (s[2] - '0'), 3
}
