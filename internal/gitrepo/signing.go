package gitrepo

import (
	"errors"
	"strconv"
	"strings"
)

// ErrSigning is returned if git's configuration requires a signature, which this package doesn't create.
var ErrSigning = errors.New("fleetwright signs nothing")

// CheckSigning returns an error if git would sign the commit, or the push: a commit without
// the required signature would look as if another person had made it. Signing needs a
// program that git's configuration names, and this package starts no program. The error is an
// *Advice that wraps ErrSigning. env and dir are as in ResolveAuthor.
func CheckSigning(env func(string) string, dir string, push bool) error {
	settings, err := readSettings(env, dir)
	if err != nil {
		return err
	}
	const hint = `run "fleetwright render" and commit with git; or go without a signature, with --no-gpg-sign`
	if settings.isTrue("commit.gpgsign") {
		return &Advice{&signingError{"commit.gpgSign is set, so that git would sign the commit"}, hint}
	}
	if push && settings.isTrue("push.gpgsign") {
		return &Advice{&signingError{"push.gpgSign is set, so that git would sign the push"}, hint}
	}
	return nil
}

type signingError struct{ why string }

func (e *signingError) Error() string { return e.why + ", and " + ErrSigning.Error() }

func (e *signingError) Unwrap() error { return ErrSigning }

// isTrue parses a boolean as git does. An empty value is false, and so is a value that is not a boolean, such as
// "if-asked" of push.gpgSign.
func (s settings) isTrue(key string) bool {
	value, set := s.values[key]
	if !set {
		return false
	}
	switch strings.ToLower(value) {
	case "true", "yes", "on":
		return true
	}
	n, err := strconv.Atoi(value)
	return err == nil && n != 0
}
