package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// settings contains the values of git's configuration. The last value of a key wins.
type settings struct {
	env    func(string) string
	values map[string]string
}

// readSettings returns git's configuration in a folder, as git itself reads it. If dir is empty, it returns the
// configuration of the user and the system. Without git, the configuration is empty.
func readSettings(env func(string) string, dir string) (settings, error) {
	s := settings{env: env, values: map[string]string{}}
	git, err := newProgram(dir, env)
	if errors.Is(err, ErrNoGit) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	out, err := git.run(context.Background(), "", "config", "--null", "--list")
	if err != nil {
		return s, fmt.Errorf("git's configuration cannot be read: %w", err)
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		key, value, set := strings.Cut(entry, "\n")
		if !set {
			value = "true" // a key without a value
		}
		s.values[key] = value
	}
	return s, nil
}

// isTrue parses a boolean as git does. An empty value is false, and so is a value that is not a boolean, such as
// "if-asked" of push.gpgSign.
func (s settings) isTrue(key string) bool {
	value := s.values[key]
	switch strings.ToLower(value) {
	case "true", "yes", "on":
		return true
	}
	n, err := strconv.Atoi(value)
	return err == nil && n != 0
}

// first returns the first value that is not blank.
func first(values ...string) string {
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			return v
		}
	}
	return ""
}
