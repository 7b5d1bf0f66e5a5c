// Package gitrepo reads a branch of a git repository and commits a set of
// changes on top of it, all or nothing. It is the only importer of go-git;
// package tree decides what the changes are.
// # What a commit does
// Blobs, trees and the commit are built in memory on top of the branch's head
// and written durably. Only then the branch moves. All paths that are not in
// the changes keep their content and mode: executable files, symlinks, submodules.
// The user's git (program) writes to a repository with a work tree: it converts and signs, moves the branch, and updates the index and the work tree if
// the branch is checked out, unless one of the paths has changes of the user. A bare
// repository's branch moves by git's own lock protocol, without git.
// The steps use a journal in the git folder (fleetwright-commit/). If the process
// is killed, the next Open reverts the commit if the branch had not moved, and
// completes it if it had.
// # What it does not do
// No hook of the local repository is run, and no fsmonitor. Functions that only read
// (revisions, the index, clones) run no program at all. No push is signed. GIT_DIR and GIT_WORK_TREE are
// ignored: the location determines the repository.
// A file:// remote starts git's own git-upload-pack and git-receive-pack, which
// serve that repository as they do for git.
// Repositories with SHA-256 object names, with reftable references or with an
// unknown format extension are refused.
package gitrepo
