package gitrepo

import (
	"errors"
	"strconv"
	"strings"
)

// ErrSigning says that git's configuration wants a signature, which this package doesn't make.
var ErrSigning = errors.New("fleetwright signs nothing")

// CheckSigning refuses to commit, or to push, where git would sign what it makes: a commit without
// the signature that is asked for would be taken for one that somebody else made. Signing takes a
// program that git's configuration names, and no other program is started; so the error is an
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

// isTrue reads a boolean as git does; an empty one is false, and so is what is no boolean, such as
// the "if-asked" of push.gpgSign.
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
