package tree

import (
	"path"
	"slices"
	"strings"
)

// What an inventory may delete
//
// The inventory is a file of the repository. Whoever can propose a change to it can
// add an entry for any file, with the file's true digest, and the next render would
// delete that file, or overwrite it, for them: with the rights of whoever renders,
// and through a line that nobody reads. A digest proves nothing here, since it can
// be computed. There is no secret by which an entry could be signed that all who
// render share and those who propose changes don't. So what the entry says is not
// enough, and the file itself has to show that it is ours:
//
//   - A file that carries the mark of a render (the header in its first line) is
//     deleted when its bytes have the digest. A file of the user's doesn't carry it,
//     and an entry in the inventory cannot put it there: that takes a change of the
//     file itself, which could as well delete it, and is seen as that. What remains
//     is an edit of such a file: an entry with the digest of the edited bytes makes it
//     look like ours.
//   - Files of the modes once and adopted carry no mark, being the user's from the
//     first day. Unchanged ones go together with what they belong to: when they have
//     the name of one that renders write, and the same render deletes a marked file
//     in their folder or above. What remains is that an entry deletes such a file of
//     the user's in a folder whose generated files go.
//   - A carried file is deleted when we made it, which its content says.
//   - What the specification is read from, git's own files and our configuration are
//     never deleted, whatever mark they carry, nor on request.
//
// Everything else is Left. A file that is still generated is overwritten by the same
// rule: without the mark it is a conflict.

// starters are the names of unmarked files that go with the folder that they are in.
var starters = []string{
	"kustomization.yaml", "gotk-components.yaml", "gotk-sync.yaml",
	"ocirepository.yaml", "helmrelease.yaml", "starter-patch.yaml",
}

// neverOwned says whether a path is one that no render writes to again: of the
// specification, of git or of a forge, or of our own configuration.
func neverOwned(p string) bool {
	for part := range strings.SplitSeq(strings.ToLower(p), "/") {
		if strings.HasPrefix(part, ".git") || strings.HasPrefix(part, ownFolder) {
			return true
		}
	}
	first, _, _ := strings.Cut(p, "/")
	return strings.EqualFold(first, specFolder)
}

// specFolder is where the specification is.
const specFolder = "fleet"

func (c *comparison) marked(p string, content []byte) bool {
	return c.opts.Marked == nil || c.opts.Marked(p, content)
}

// markDir notes that a marked file of a folder is deleted.
func (c *comparison) markDir(p string) {
	if c.markedDirs == nil {
		c.markedDirs = map[string]bool{}
	}
	c.markedDirs[path.Dir(p)] = true
}

// unmarked decides on the files without a mark.
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
