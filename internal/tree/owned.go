package tree

import (
	"path"
	"slices"
	"strings"
)

// What an inventory may delete
// The inventory is a file of the repository. Anyone who can propose a change to it can
// add an entry for any file, with the file's true digest. The next render would then
// delete or overwrite that file with the permissions of the person who renders,
// because of a line that is easily overlooked. A digest proves nothing here, because anyone can
// compute it. Entries cannot be signed, either: everybody who renders would have to share
// a secret that people who propose changes do not have. So the entry alone is not
// enough: the file itself must show that it is ours.
//   - A file with the mark of a render (the header in its first line) is
//     deleted if its bytes have the digest. A user's file has no mark,
//     and an entry in the inventory cannot add it: that requires a change of the
//     file itself, which could also delete it, and which is visible. The remaining risk
//     is an edit of a marked file: with an entry that has the digest of the edited bytes, it
//     looks like ours.
//   - Files of the modes once and adopted have no mark, because they belong to the user from the
//     first day. An unchanged one is deleted if it has the name of such a file
//     and the same render deletes a marked file
//     in its folder or above. The remaining risk is that an entry deletes such a file of
//     the user in a folder whose generated files are deleted.
//   - A carried file is deleted if we created it, which its content shows.
//   - The files of the specification, git's own files and our configuration are
//     never deleted, whatever mark they have, nor on request.
// All other files are Left. The same rule applies to overwriting a file that is still
// generated: without the mark it is a conflict.

// starters are the names of unmarked files that are deleted with the generated files of their folder.
var starters = []string{
	"kustomization.yaml", "gotk-components.yaml", "gotk-sync.yaml",
	"ocirepository.yaml", "helmrelease.yaml", "starter-patch.yaml",
}

// neverOwned reports whether a path belongs to the specification, to git or a forge, or to our own configuration, so that
// no render replaces or deletes its file.
func neverOwned(p string) bool {
	for part := range strings.SplitSeq(strings.ToLower(p), "/") {
		if strings.HasPrefix(part, ".git") || strings.HasPrefix(part, ownFolder) {
			return true
		}
	}
	first, _, _ := strings.Cut(p, "/")
	return strings.EqualFold(first, specFolder)
}

// specFolder is the folder of the specification.
const specFolder = "fleet"

func (c *comparison) marked(p string, content []byte) bool {
	return c.opts.Marked == nil || c.opts.Marked(p, content)
}

// markDir records that a marked file in a folder is deleted.
func (c *comparison) markDir(p string) {
	if c.markedDirs == nil {
		c.markedDirs = map[string]bool{}
	}
	c.markedDirs[path.Dir(p)] = true
}

// unmarked decides whether to delete the files without a mark.
func (c *comparison) unmarked() {
	for _, step := range c.doubtful {
		goes := false
		for dir := range parents(step.Path) {
			goes = goes || c.markedDirs[dir]
		}
		if goes && (step.Mode == Once || step.Mode == Adopted) && slices.Contains(starters, path.Base(step.Path)) {
			c.remove(step)
		} else {
			c.left = append(c.left, Left{Path: step.Path, Forged: true})
		}
	}
}
