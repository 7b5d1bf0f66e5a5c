package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/fleetwright/fleetwright/internal/advice"
)

// ErrSigning is returned if git's configuration requires a signature of the push, which this package doesn't create.
var ErrSigning = errors.New("fleetwright does not sign pushes")

// Signs reports whether git's configuration requires signed commits. If it requires signed pushes and push is set, the
// error is an *advice.Error that wraps ErrSigning. env and dir are as in ResolveAuthor.
func Signs(env func(string) string, dir string, push bool) (bool, error) {
	settings, err := readSettings(env, dir)
	if err == nil && push && settings.isTrue("push.gpgsign") {
		err = advice.New(
			fmt.Errorf("push.gpgSign is set, so that git would sign the push, and %w", ErrSigning),
			`commit without --push and push with git; or go without signatures, with --no-gpg-sign`,
		)
	}
	return settings.isTrue("commit.gpgsign"), err
}

// sign lets the user's git create the signed commit, and returns its hash. The objects of its tree are written already.
func (b *Branch) sign(ctx context.Context, c *object.Commit) (string, error) {
	git, err := newProgram(b.layout.git, b.env)
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", "-S", c.TreeHash.String()}
	for _, parent := range c.ParentHashes {
		args = append(args, "-p", parent.String())
	}
	git = git.with("GIT_DIR=" + b.layout.git).with(identities("AUTHOR", Signature(c.Author))...).with(identities("COMMITTER", Signature(c.Committer))...)
	hash, err := git.run(ctx, c.Message, args...)
	if err != nil {
		return "", advice.New(
			fmt.Errorf("git's configuration asks for a signed commit (commit.gpgSign), and git cannot sign it: %w", err),
			`see that "git commit" signs here; or go without a signature, with --no-gpg-sign`,
		)
	}
	return strings.TrimSpace(hash), nil
}

// identities returns the environment variables that set the author or committer in git.
func identities(role string, s Signature) []string {
	name := "GIT_" + role
	return []string{name + "_NAME=" + s.Name, name + "_EMAIL=" + s.Email, fmt.Sprintf("%s_DATE=@%d %s", name, s.When.Unix(), s.When.Format("-0700"))}
}
