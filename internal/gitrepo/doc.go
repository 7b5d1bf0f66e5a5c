// Package gitrepo reads a branch of a git repository and commits a set of
// changes on top of it, all or nothing. It is the only importer of go-git;
// package tree decides what the changes are.
// # What a commit does
// Blobs, trees and the commit are built in memory on top of the branch's head
// and written durably. Only then the reference moves, by git's own lock protocol
// (a lock file next to the reference, the old value compared under the lock, a
// rename). All paths that are not in the changes keep their content and mode:
// executable files, symlinks, submodules. If the branch is checked out, the
// index and the work tree are updated, or the commit is refused because one of the
// paths has changes of the user.
// The final steps use a journal in the git folder (fleetwright-commit/).
// If the process is killed, the next Open reverts the commit if the reference had not
// moved, and completes it if it had.
// # What it does not do
// No hook of the local repository is run, no filter, no fsmonitor and no
// command of its configuration. Line endings are not converted: a work tree gets
// the committed bytes. If git would sign a commit (commit.gpgSign),
// or store a path through a filter or in another encoding (Git LFS), the commit is
// refused, because it would differ from git's. A repository
// of another owner is refused as git refuses it (safe.directory). GIT_DIR and
// GIT_WORK_TREE are ignored: the location determines the repository.
// Only a file:// remote starts a program: git's own git-upload-pack and
// git-receive-pack, which serve that repository as they do for git.
// Repositories with SHA-256 object names, with reftable references or with an
// unknown format extension are refused.
package gitrepo
