package gitrepo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	format "github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/fleetwright/fleetwright/internal/regular"
)

// maxConfig bounds a configuration file, in bytes.
const maxConfig = 4 << 20

// configFile is one parsed file of git's configuration.
type configFile struct {
	path string
	raw  *format.Config
}

// readConfig parses a configuration file; a missing one is empty.
func readConfig(path string) (configFile, error) {
	data, err := readBounded(path, maxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return configFile{path: path, raw: format.New()}, err
	}
	return parseConfig(path, data)
}

// parseConfig parses the content of a configuration file.
func parseConfig(path string, data []byte) (configFile, error) {
	c := configFile{path: path, raw: format.New()}
	if err := format.NewDecoder(bytes.NewReader(data)).Decode(c.raw); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// get returns the last value of section.key (case-insensitive).
func (c configFile) get(section, key string) (string, bool) {
	for i := len(c.raw.Sections) - 1; i >= 0; i-- {
		s := c.raw.Sections[i]
		if !s.IsName(section) {
			continue
		}
		for j := len(s.Options) - 1; j >= 0; j-- {
			if s.Options[j].IsKey(key) {
				return s.Options[j].Value, true
			}
		}
	}
	return "", false
}

// sub returns all values of section.name.key in order.
func (c configFile) sub(section, name, key string) []string {
	var values []string
	for _, s := range c.raw.Sections {
		if !s.IsName(section) {
			continue
		}
		for _, ss := range s.Subsections {
			if ss.Name != name {
				continue
			}
			for _, o := range ss.Options {
				if o.IsKey(key) {
					values = append(values, o.Value)
				}
			}
		}
	}
	return values
}

// isTrue reads a boolean as git does; a key without a value is true.
func (c configFile) isTrue(section, key string, otherwise bool) bool {
	v, ok := c.get(section, key)
	if !ok {
		return otherwise
	}
	switch strings.ToLower(v) {
	case "", "true", "yes", "on":
		return true
	case "false", "no", "off":
		return false
	}
	n, err := strconv.Atoi(v)
	return err == nil && n != 0
}

// knownExtensions are the format extensions that do not affect what this package reads and writes (git's
// Documentation/config/extensions.txt).
var knownExtensions = []string{"noop", "noop-v1", "preciousobjects", "partialclone", "worktreeconfig", "relativeworktrees"}

// checkFormat returns an error for a repository whose format this package doesn't support.
func (c configFile) checkFormat() error {
	version, _ := c.get("core", "repositoryformatversion")
	if version != "" && version != "0" && version != "1" {
		return fmt.Errorf("%w: core.repositoryformatversion %q, want 0 or 1", ErrUnsupported, version)
	}
	if !c.raw.HasSection("extensions") {
		return nil
	}
	for _, o := range c.raw.Section("extensions").Options {
		if err := checkExtension(strings.ToLower(o.Key), strings.ToLower(o.Value), version); err != nil {
			return err
		}
	}
	return nil
}

func checkExtension(key, value, version string) error {
	switch key {
	case "objectformat":
		if value != "sha1" {
			return fmt.Errorf("%w: object names are %q, and only sha1 is written: use a repository made with \"git init --object-format=sha1\"", ErrUnsupported, value)
		}
		return nil
	case "refstorage":
		if value != "files" {
			return fmt.Errorf("%w: references are stored as %q, and only files are written: run \"git refs migrate --ref-format=files\"", ErrUnsupported, value)
		}
		return nil
	}
	for _, known := range knownExtensions {
		if key == known {
			return nil
		}
	}
	if version != "1" {
		return nil // git ignores other extensions in format 0
	}
	return fmt.Errorf("%w: unknown extension %q in %s", ErrUnsupported, key, "the repository's config")
}

// sharedBits reads core.sharedRepository: the permissions of group and others that are added to those from the umask.
func (c configFile) sharedBits() (dir, file fs.FileMode) {
	v, ok := c.get("core", "sharedrepository")
	if !ok {
		return 0, 0
	}
	switch strings.ToLower(v) {
	case "umask", "false", "0", "no", "off":
		return 0, 0
	case "", "group", "true", "1", "yes", "on":
		return 0o070, 0o060
	case "all", "world", "everybody", "2":
		return 0o075, 0o064
	}
	n, err := strconv.ParseUint(v, 8, 32)
	if err != nil {
		return 0, 0
	}
	file = fs.FileMode(n) & 0o066
	return file | file&0o044>>2, file
}

// readBounded reads a regular file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	return regular.Read(path, limit)
}

// resolveIn returns an absolute path; relative paths are relative to dir.
func resolveIn(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
