package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"net/mail"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	format "github.com/go-git/go-git/v5/plumbing/format/config"
)

// Signature says who did something and when, to the second.
type Signature struct {
	Name, Email string
	When        time.Time
}

// check refuses what doesn't fit a commit's header.
func (s Signature) check(role string) error {
	switch {
	case s.Name == "" || s.Email == "":
		return fmt.Errorf("%w: the %s needs a name and an email", ErrNoIdentity, role)
	case strings.ContainsAny(s.Name+s.Email, "<>\n\r\x00"):
		return fmt.Errorf("the %s %q <%q> must not have <, > or line breaks", role, s.Name, s.Email)
	case s.When.Unix() < 0:
		return fmt.Errorf("the %s's date %s lies before 1970", role, s.When.Format(time.RFC3339))
	}
	return nil
}

// ResolveAuthor finds who commits, as git does: for the author the explicit
// "Name <email>" (a flag's value, may be empty), then the environment
// (GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_AUTHOR_DATE; GIT_COMMITTER_* for the
// committer), then git's configuration (author.*, committer.*, user.*), then
// EMAIL. A committer that nothing names is the author. The time is now where no
// date is set. dir is a folder in a repository whose own configuration counts,
// or empty. Where nothing names an author, the error is an
// *Advice on how to.
func ResolveAuthor(explicit string, env func(string) string, dir string, now time.Time) (author, committer Signature, err error) {
	settings, err := readSettings(env, dir)
	if err != nil {
		return author, committer, err
	}
	if author, err = settings.identity("author", explicit, now); err != nil {
		return author, committer, err
	}
	if committer, err = settings.identity("committer", "", now); err != nil {
		return author, committer, err
	}
	if author.Name == "" || author.Email == "" {
		return author, committer, &Advice{ErrNoIdentity, `give --author "Name <name@example.com>", set GIT_AUTHOR_NAME and GIT_AUTHOR_EMAIL, or run "git config --global user.name" and "git config --global user.email"`}
	}
	if committer.Name == "" || committer.Email == "" {
		committer.Name, committer.Email = author.Name, author.Email
	}
	return author, committer, errors.Join(author.check("author"), committer.check("committer"))
}

// settings is git's configuration as far as identities need it: all scopes, the
// last value of a key wins.
type settings struct {
	env    func(string) string
	values map[string]string
	// safe are the values of safe.directory in order, of which later ones may take
	// earlier ones back.
	safe *[]string
}

func (s settings) identity(role, explicit string, now time.Time) (Signature, error) {
	upper := "GIT_" + strings.ToUpper(role) + "_"
	sig := Signature{
		Name:  first(s.env(upper+"NAME"), s.values[role+".name"], s.values["user.name"]),
		Email: first(s.env(upper+"EMAIL"), s.values[role+".email"], s.values["user.email"], s.env("EMAIL")),
		When:  now,
	}
	if explicit != "" {
		address, err := mail.ParseAddress(explicit)
		if err != nil || address.Name == "" {
			return sig, fmt.Errorf("the %s %q is not of the form \"Name <name@example.com>\"", role, explicit)
		}
		sig.Name, sig.Email = address.Name, address.Address
	}
	date := s.env(upper + "DATE")
	if date == "" {
		return sig, nil
	}
	when, err := parseDate(date)
	if err != nil {
		return sig, fmt.Errorf("%sDATE: %w", upper, err)
	}
	sig.When = when
	return sig, nil
}

func first(values ...string) string {
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			return v
		}
	}
	return ""
}

// dateLayouts are the fixed formats of git's Documentation/date-formats.txt.
var dateLayouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05-0700", "2006-01-02 15:04:05Z07:00",
	"Mon, 2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04:05 -0700",
	"2006-01-02T15:04:05", "2006-01-02 15:04:05",
}

// parseDate reads git's date formats: "SECONDS ZONE" (with or without @),
// ISO 8601 and RFC 2822. Without a zone the local one is meant.
func parseDate(date string) (time.Time, error) {
	date = strings.TrimSpace(date)
	seconds, zone, _ := strings.Cut(strings.TrimPrefix(date, "@"), " ")
	if n, err := strconv.ParseInt(seconds, 10, 64); err == nil && n >= 0 {
		if zone == "" {
			zone = "+0000"
		}
		if z, err := time.Parse("-0700", zone); err == nil {
			return time.Unix(n, 0).In(z.Location()), nil
		}
	}
	for _, layout := range dateLayouts {
		if t, err := time.ParseInLocation(layout, date, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a date: want \"SECONDS +ZONE\", ISO 8601 or RFC 2822", date)
}

// readSettings reads system, global, repository and environment scope in git's
// order (git-config's FILES and ENVIRONMENT).
func readSettings(env func(string) string, dir string) (settings, error) {
	r := settingsReader{settings: settings{env: env, values: map[string]string{}, safe: &[]string{}}, home: env("HOME")}
	if l, root := layoutAround(dir); root != "" {
		r.git, r.common = l.git, l.common
		r.branch, _ = headOf(l.git)
	}
	for _, file := range r.files() {
		if err := r.read(file, 0); err != nil {
			return settings{}, fmt.Errorf("git's configuration: %w", err)
		}
	}
	count, _ := strconv.Atoi(env("GIT_CONFIG_COUNT"))
	for i := range min(count, 1000) {
		n := strconv.Itoa(i)
		r.set(strings.ToLower(env("GIT_CONFIG_KEY_"+n)), env("GIT_CONFIG_VALUE_"+n))
	}
	return r.settings, nil
}

func layoutAround(dir string) (layout, string) {
	if dir == "" {
		return layout{}, ""
	}
	root, ok := Root(dir)
	if !ok {
		return layout{}, ""
	}
	l, err := findLayout(root)
	if err != nil {
		return layout{}, ""
	}
	return l, root
}

type settingsReader struct {
	settings
	home, git, common, branch string
}

func (r settingsReader) files() []string {
	var files []string
	if off := r.env("GIT_CONFIG_NOSYSTEM"); off == "" || off == "0" || off == "false" {
		files = append(files, first(r.env("GIT_CONFIG_SYSTEM"), "/etc/gitconfig"))
	}
	switch global := r.env("GIT_CONFIG_GLOBAL"); {
	case global != "":
		files = append(files, global)
	case r.home != "":
		xdg := first(r.env("XDG_CONFIG_HOME"), filepath.Join(r.home, ".config"))
		files = append(files, filepath.Join(xdg, "git", "config"), filepath.Join(r.home, ".gitconfig"))
	}
	if r.common != "" {
		files = append(files, filepath.Join(r.common, "config"))
		if c, err := readConfig(filepath.Join(r.common, "config")); err == nil && c.isTrue("extensions", "worktreeconfig", false) {
			files = append(files, filepath.Join(r.git, "config.worktree"))
		}
	}
	return files
}

// maxIncludes is git's own bound on the depth of includes.
const maxIncludes = 10

// read takes a file's identity values, following includes where they stand.
// A file that may not be read counts as empty, as a missing one does.
func (r settingsReader) read(file string, depth int) error {
	if depth > maxIncludes {
		return fmt.Errorf("%s: more than %d levels of include", file, maxIncludes)
	}
	if !isRegular(file) {
		return nil
	}
	c, err := readConfig(file)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, s := range c.raw.Sections {
		for _, o := range s.Options {
			r.set(strings.ToLower(s.Name+"."+o.Key), o.Value)
		}
		for _, target := range r.includes(s) {
			if err := r.read(resolveIn(filepath.Dir(file), r.expand(target)), depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s settings) set(key, value string) {
	s.values[key] = value
	if key == "safe.directory" {
		*s.safe = append(*s.safe, value)
	}
}

func isRegular(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// includes are the files that a section includes under the conditions that hold
// here: gitdir, gitdir/i and onbranch.
func (r settingsReader) includes(s *format.Section) []string {
	switch {
	case s.IsName("include"):
		return s.Options.GetAll("path")
	case !s.IsName("includeif"):
		return nil
	}
	var files []string
	for _, ss := range s.Subsections {
		kind, pattern, _ := strings.Cut(ss.Name, ":")
		holds := false
		switch strings.ToLower(kind) {
		case "gitdir":
			holds = r.inGitDir(pattern)
		case "gitdir/i":
			folded := r
			folded.git = strings.ToLower(r.git)
			holds = folded.inGitDir(strings.ToLower(r.expand(pattern)))
		case "onbranch":
			holds = matchGlob(trailing(pattern), shortRef(r.branch))
		}
		if holds {
			files = append(files, ss.Options.GetAll("path")...)
		}
	}
	return files
}

func (r settingsReader) inGitDir(pattern string) bool {
	if r.git == "" {
		return false
	}
	pattern = trailing(filepath.ToSlash(r.expand(pattern)))
	if !path.IsAbs(pattern) && filepath.VolumeName(pattern) == "" {
		pattern = "**/" + pattern
	}
	return matchGlob(pattern, filepath.ToSlash(r.git))
}

// trailing gives a pattern that ends with a slash its implied "**".
func trailing(pattern string) string {
	if strings.HasSuffix(pattern, "/") {
		return pattern + "**"
	}
	return pattern
}

func (r settingsReader) expand(p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok && r.home != "" {
		return r.home + "/" + rest
	}
	return p
}

// matchGlob matches path components, with ** for any number of them.
func matchGlob(pattern, name string) bool {
	return matchParts(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func matchParts(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(name) + 1 {
				if matchParts(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); err != nil || !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}
