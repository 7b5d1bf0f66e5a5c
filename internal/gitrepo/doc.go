// Package gitrepo reads a branch of a git repository and commits a set of
// changes on top of it, all or nothing. It is the only importer of go-git; what
// belongs into the changes is decided elsewhere (package tree).
//
// # What a commit does
//
// Blobs, trees and the commit are built in memory on top of the branch's head,
// written durably, and only then the reference moves, by git's own lock protocol
// (a lock file beside the reference, the old value compared under the lock, a
// rename). Everything that the changes don't name stays as it is, with its mode:
// executable files, symlinks, submodules. Where the branch is checked out, the
// index and the work tree follow, or the commit is refused because a touched
// path has changes of the user's.
//
// The final steps go through a journal in the git folder (fleetwright-commit/).
// After a kill the next Open takes the commit back when the reference had not
// moved, and completes it when it had.
//
// # What it does not do
//
// No hook of the local repository is run, no filter, no fsmonitor and no
// command of its configuration; line endings are not converted: a work tree gets
// the bytes that are committed. Where git would sign a commit (commit.gpgSign),
// or store a path through a filter or in another encoding (Git LFS), it is
// refused, because what is committed would not be what git commits. A repository
// of another owner is refused as git refuses it (safe.directory). GIT_DIR and
// GIT_WORK_TREE are not read: the location says where the repository is.
// Only a file:// remote starts a program: git's own git-upload-pack and
// git-receive-pack, which serve that repository as they do for git.
//
// Repositories with SHA-256 object names, with reftable references or with an
// unknown format extension are refused.
package gitrepo
