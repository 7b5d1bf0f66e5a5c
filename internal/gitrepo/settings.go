package gitrepo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/gcfg"
)

// readSettings reads git's configuration: system, global, repository and command scope in git's order (git-config's
// FILES and ENVIRONMENT).
func readSettings(env func(string) string, dir string) (settings, error) {
	r := settingsReader{settings: settings{env: env, values: map[string]string{}, safe: &[]string{}}, home: env("HOME"), remotes: &remotes{}}
	if l, root := layoutAround(dir); root != "" {
		r.git, r.common = l.git, l.common
		r.branch, _ = headOf(l.git)
	}
	if err := r.all(); err != nil {
		return settings{}, fmt.Errorf("git's configuration: %w", err)
	}
	return r.settings, nil
}

// all reads all scopes.
func (r settingsReader) all() error {
	for _, file := range r.files() {
		if err := r.read(file, 0); err != nil {
			return err
		}
	}
	entries, err := commandEntries(r.env)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := r.take(e, "", 0); err != nil {
			return err
		}
	}
	return nil
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
	remotes                   *remotes
	// forRemotes is set while only the URLs of remotes are read: then each condition about them
	// is true, and a file that is included by a condition must contain none (noRemotes).
	forRemotes, noRemotes bool
}

// remotes are the URLs of all remotes, valid if known is set.
type remotes struct {
	known bool
	urls  []string
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

// maxIncludes is git's own limit of the depth of includes.
const maxIncludes = 10

// read reads the values of a file in order, and follows includes. Like a missing file, a file that
// cannot be read counts as empty.
func (r settingsReader) read(file string, depth int) error {
	if depth > maxIncludes {
		return fmt.Errorf("%s: more than %d levels of include", file, maxIncludes)
	}
	if !isRegular(file) {
		return nil
	}
	data, err := readBounded(file, maxConfig)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := entriesOf(data)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, e := range entries {
		if err := r.take(e, file, depth); err != nil {
			return err
		}
	}
	return nil
}

// entriesOf returns the values in a file, in order. A key without a value is true.
func entriesOf(data []byte) ([]entry, error) {
	var all []entry
	err := gcfg.ReadWithCallback(bytes.NewReader(data), func(section, sub, key, value string, blank bool) error {
		if blank {
			value = "true"
		}
		if key != "" {
			all = append(all, entry{strings.ToLower(section), sub, strings.ToLower(key), value})
		}
		return nil
	})
	return all, err
}

// take applies a value from a file; file is "" for the command scope.
func (r settingsReader) take(e entry, file string, depth int) error {
	isInclude, conditional := e.key == "path" && e.section == "include" && e.sub == "", false
	if e.section == "includeif" && e.key == "path" {
		holds, err := r.holds(e.sub)
		if err != nil {
			return err
		}
		isInclude, conditional = holds, holds
	}
	if e.section == "remote" && e.sub != "" && e.key == "url" {
		if r.noRemotes {
			return fmt.Errorf("%s: remote.%s.url in a file that a condition includes, where another condition asks for remotes: git refuses that", file, e.sub)
		}
		r.remotes.urls = append(r.remotes.urls, e.value)
	}
	r.set(e.name(), e.value)
	if !isInclude || e.value == "" {
		return nil
	}
	target := filepath.FromSlash(r.expand(e.value))
	if file == "" && !filepath.IsAbs(target) {
		return fmt.Errorf("%s in the environment is a relative path, which git refuses", e.name())
	}
	r.noRemotes = r.noRemotes || conditional && r.forRemotes
	return r.read(resolveIn(filepath.Dir(file), target), depth+1)
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

// holds reports whether the condition of an include is true. As in git, an unknown condition
// is false.
func (r settingsReader) holds(condition string) (bool, error) {
	kind, pattern, _ := strings.Cut(condition, ":")
	switch kind {
	case "gitdir":
		return r.inGitDir(pattern), nil
	case "gitdir/i":
		folded := r
		folded.git = strings.ToLower(r.git)
		return folded.inGitDir(strings.ToLower(r.expand(pattern))), nil
	case "onbranch":
		return matchGlob(trailing(pattern), shortRef(r.branch)), nil
	case "hasconfig":
		if pattern, ok := strings.CutPrefix(pattern, "remote.*.url:"); ok {
			return r.hasRemote(pattern)
		}
	}
	return false, nil
}

// hasRemote reports whether the URL of a remote, in any scope, matches a pattern.
// Source: git's config.c, include_by_remote_url.
func (r settingsReader) hasRemote(pattern string) (bool, error) {
	if r.forRemotes {
		return true, nil
	}
	if !r.remotes.known {
		found := r
		found.settings = settings{env: r.env, values: map[string]string{}, safe: &[]string{}}
		found.remotes, found.forRemotes = &remotes{}, true
		if err := found.all(); err != nil {
			return false, err
		}
		*r.remotes = remotes{known: true, urls: found.remotes.urls}
	}
	glob, err := globPattern(pattern, false)
	if err != nil {
		return false, nil //nolint:nilerr // git's own matcher treats it as a pattern that matches nothing
	}
	for _, url := range r.remotes.urls {
		if glob.MatchString(url) {
			return true, nil
		}
	}
	return false, nil
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

// trailing adds the implied "**" to a pattern that ends with a slash.
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

// settings contains the values of git's configuration that identities need. In all scopes, the
// last value of a key wins.
type settings struct {
	env    func(string) string
	values map[string]string
	// safe are the values of safe.directory in order; a later one may reset earlier ones.
	safe *[]string
}

func first(values ...string) string {
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			return v
		}
	}
	return ""
}
