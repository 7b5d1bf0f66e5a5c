package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/fleetwright/fleetwright/internal/bounds"
)

// CommitOptions is the metadata of a commit. The same changes on top of the same commit
// with the same options result in the same commit hash.
type CommitOptions struct {
	// Message of the commit; its first line goes to the reference's log.
	Message string
	// Author and Committer, see ResolveAuthor. If Committer has no name, the Author is the
	// committer.
	Author, Committer Signature
	// Sign signs the commit with the user's git, see Signs.
	Sign bool
	// DryRun builds the commit in memory, without a signature, and performs all checks, but writes nothing.
	DryRun bool
}

// Result is the result of a commit, or of its dry run.
type Result struct {
	// Commit is the branch's head afterwards, and Parent its parent; "" if it does not exist.
	Commit, Parent string
	// Changed is set if a commit was created, or if the branch was created or moved forward.
	Changed bool
	// Created is set if the branch did not exist.
	Created bool
	// Pushed is set if the remote accepted the commit.
	Pushed bool
}

// Commit applies changes to the branch, all or nothing. It creates no commit if the tree does not change. With a remote,
// it pushes the commit before it moves the local branch: a rejected push changes nothing locally, and the caller opens
// the branch again and repeats. It fails with ErrMoved, ErrRejected, ErrBusy, ErrDirty, ErrInProgress, ErrFilter or a
// *tree.BlockedError, and leaves the branch unchanged. If it fails after the reference moved (for example because the
// disk is full), the error says so, and the next Open completes the commit.
func (b *Branch) Commit(ctx context.Context, changes []Change, o CommitOptions) (Result, error) {
	changes, err := sortChanges(changes)
	if err != nil {
		return Result{}, err
	}
	if err := b.convert(ctx, changes, o.DryRun); err != nil {
		return Result{}, err
	}
	e := newEditor(b.store)
	result, commit, err := b.build(e, changes, o)
	if err != nil {
		return Result{}, err
	}
	push := b.remote != nil && b.remote.head != result.Commit && result.Commit != ""
	move := b.temp == "" && b.local != result.Commit
	result.Changed = move || push
	if !result.Changed {
		return result, nil
	}
	defer bounds.Writing()()
	if move {
		t := b.newTransaction(result.Commit)
		t.store.fresh = e.fresh
		if err := t.preflight(ctx); err != nil {
			return Result{}, err
		}
	}
	if o.DryRun {
		return result, nil
	}
	if result.Commit, err = b.write(ctx, e, commit, result.Commit, o.Sign); err != nil {
		return Result{}, err
	}
	if push {
		if err := b.remote.send(ctx, b.store.whole(), b.ref, result.Commit); err != nil {
			return Result{}, err
		}
		b.remote.head, result.Pushed = result.Commit, true
	}
	if b.temp == "" {
		if err := b.move(ctx, result, o); err != nil {
			return result, pushedButStuck(err, result.Pushed)
		}
		b.local = result.Commit
	}
	b.base = result.Commit
	return result, nil
}

// write writes the new objects, of which the commit is the last, and returns the commit's hash. commit is nil if it is
// not new.
func (b *Branch) write(ctx context.Context, e *editor, commit *object.Commit, hash string, sign bool) (string, error) {
	sign = sign && commit != nil
	if sign {
		e.order = e.order[:len(e.order)-1] // git writes the commit
	}
	if err := e.writeObjects(b.disk, b.layout.common); err != nil {
		return "", fmt.Errorf("writing objects: %w", err)
	}
	if sign {
		var err error
		if hash, err = b.sign(ctx, commit); err != nil {
			return "", err
		}
	}
	b.store.Reindex()
	return hash, nil
}

// move moves the local branch to the commit.
func (b *Branch) move(ctx context.Context, r Result, o CommitOptions) error {
	t := b.newTransaction(r.Commit)
	t.message = b.logMessage(r.Commit, o.Message)
	t.env = identities("COMMITTER", o.committer())
	return t.run(ctx)
}

// committer returns the signature of the committer.
func (o CommitOptions) committer() Signature {
	if o.Committer.Name == "" {
		return o.Author
	}
	return o.Committer
}

// pushedButStuck adds to an error that the remote already has the commit.
func pushedButStuck(err error, pushed bool) error {
	if !pushed {
		return err
	}
	return fmt.Errorf("the remote has the commit, but the local branch could not be updated (run \"git pull\"): %w", err)
}

// build creates the tree and the commit in memory. The commit is nil if the tree does not change.
func (b *Branch) build(e *editor, changes []Change, o CommitOptions) (Result, *object.Commit, error) {
	before, err := b.store.rootOf(b.base)
	if err != nil {
		return Result{}, nil, err
	}
	after, err := e.apply(before, "", changes)
	if err != nil {
		return Result{}, nil, err
	}
	result := Result{Commit: b.base, Parent: b.base, Created: !b.Exists()}
	if after == before {
		result.Created = result.Created && b.base != ""
		return result, nil, nil
	}
	if after.IsZero() { // git's empty tree, which is an ordinary object
		if after, err = e.addEncoded(&object.Tree{}); err != nil {
			return Result{}, nil, err
		}
	}
	commit, err := b.newCommit(after, o)
	if err != nil {
		return Result{}, nil, err
	}
	hash, err := e.addEncoded(commit)
	result.Commit = hash.String()
	return result, commit, err
}

func (b *Branch) newCommit(tree plumbing.Hash, o CommitOptions) (*object.Commit, error) {
	committer := o.committer()
	if err := errors.Join(o.Author.check("author"), committer.check("committer")); err != nil {
		return nil, err
	}
	message := strings.TrimSpace(o.Message)
	if message == "" || strings.ContainsRune(message, 0) {
		return nil, fmt.Errorf("the commit needs a message without NUL")
	}
	c := &object.Commit{
		Author:    object.Signature(o.Author),
		Committer: object.Signature(committer),
		Message:   message + "\n",
		TreeHash:  tree,
	}
	if b.base != "" {
		c.ParentHashes = []plumbing.Hash{plumbing.NewHash(b.base)}
	}
	return c, nil
}
