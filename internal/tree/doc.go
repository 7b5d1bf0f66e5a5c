// Package tree holds a rendered file tree in memory and brings a folder (or a
// git revision) to it without losing anything of the user's: it compares, owns
// and writes.
//
// ReadInventory says which files are ours, Compare plans (it is pure: a Reader
// in, a Plan out), and Apply writes the plan to a folder; a commit takes
// Plan.Changes instead. Every command that writes calls Recover before it reads a
// folder; one that only reads calls Look, and leaves what it finds.
//
// # Nothing of the user's is lost
//
// A file is ours when the inventory lists it, and unedited when its bytes have
// the digest listed there. Only such files are rewritten or deleted. A file that
// was edited, or stands in the way without being ours, is a Conflict: it is left
// as it is and shown with its diff, and the rest of the plan goes on. The
// inventory keeps an edited file's old digest, so each run reports it until the
// user moves the edit into the specification, or overwrites it. Just before a
// file is replaced or removed, its bytes are compared once more with those that
// the plan saw; and as somebody may save it between that look and the rename, the
// new file is swapped with it (on Linux, where the file system can), and what came
// out is looked at again where nobody saves to it any more. What is not as the
// plan saw it, or is open for writing, goes back. Symbolic links are never
// followed, neither at a path nor above.
//
// A formatter's work is no edit: a file whose YAML says what was rendered,
// comments included, is up to date whatever its style. But a digest is of bytes:
// a file that was reformatted and whose desired content changes later is a
// conflict. kpt's formatter does not get there, because what is generated, this
// inventory included, is in the form that kyaml writes.
//
// # All or nothing
//
// Apply works in .fleetwright/.git, which is gone afterwards, and which no
// repository can bring along, because git puts no path with .git in it into a
// commit or a work tree. So a journal there is ours, and nobody else's:
//
//  1. lock: a lock of the kernel's, which ends with the process; of two writers
//     one gets it, the other fails with ErrLocked or, coming later, finds the
//     files changed
//  2. check that each file is as the plan saw it and its folder can be written
//  3. stage: write all new bytes into the working folder
//  4. decide: rename the journal, which lists each path with its old and new
//     digest, into place
//  5. remove, make folders, swap the staged files into place
//  6. remove the journal, then everything else
//
// What stops before the fourth step is taken back, what stops after it is
// finished, by Recover or by Apply itself. Each operation can be done again: a
// path that has its new bytes is done, one with neither old nor new bytes was
// changed by the user meanwhile, and is left and reported.
//
// Against a kill of the process this needs no sync at all, because the kernel
// keeps what was written. Against a loss of power, Linux syncs the staged files
// (all at once where they are many) and then the journal and its folders before
// going on, so that a journal on disk has its bytes on disk; file systems keep
// the order of the names that change after it. Other systems sync the journal
// only: after a loss of power a file may be found empty, which shows as a
// conflict, and not as a silent loss.
//
// # Deterministic
//
// Paths are unique and sorted, the inventory's bytes depend on nothing but its
// entries, and no time or order of reading enters.
package tree
