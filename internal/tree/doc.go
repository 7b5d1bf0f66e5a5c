// Package tree holds a rendered file tree in memory and updates a folder (or a
// git revision) to it without losing the user's work: it compares, owns
// and writes files.
// ReadInventory returns which files are ours. Compare plans the changes (it is pure: it takes a Reader
// and returns a Plan), and Apply writes the plan to a folder; a commit uses
// Plan.Changes instead. Every command that writes calls Recover before it reads a
// folder; one that only reads calls Look, which changes nothing.
// # No work of the user is lost
// A file is ours if the inventory lists it, and unedited if its bytes have
// the digest in the inventory. Only such files are rewritten or deleted. A file that
// was edited, or that blocks a path without being ours, is a Conflict: it is kept
// and shown with its diff, and the rest of the plan continues. The
// inventory keeps an edited file's old digest, so each run reports it until the
// user moves the edit into the specification, or overwrites it. Directly before a
// file is replaced or removed, its bytes are compared again with those that
// the plan saw. Because somebody may save it between that check and the rename, the
// new file is swapped with it (on Linux, if the file system can), and the old file
// is checked again at a place where no process saves to it any more. If it is not as the
// plan saw it, or is open for writing, it is moved back. Symbolic links are never
// followed, neither at a path nor above.
// Formatting is not an edit: a file whose YAML equals the rendered one,
// including comments, is up to date in any style. But a digest is of bytes:
// if a file was reformatted and its desired content changes later, it is a
// conflict. kpt's formatter does not cause this, because generated files, including this
// inventory, are in the style of kyaml.
// # All or nothing
// Apply works in .fleetwright/.git, which it removes afterwards. No
// repository can contain that folder, because git puts no path with .git in it into a
// commit or a work tree. So a journal in it is certainly ours:
//  1. lock: a lock of the kernel, which ends with the process; of two writers
//     one gets it, the other fails with ErrLocked or, if it comes later, finds the
//     files changed
//  2. check that each file is as the plan saw it and that its folder is writable
//  3. stage: write all new bytes into the working folder
//  4. decide: rename the journal, which lists each path with its old and new
//     digest, to its final name
//  5. remove files, create folders, swap the staged files into place
//  6. remove the journal, then everything else
//
// A write that stops before the fourth step is reverted; one that stops after it is
// finished, by Recover or by Apply itself. Each operation can be repeated: a
// path that has its new bytes is done, one with neither old nor new bytes was
// changed by the user meanwhile, and is kept and reported.
// Against a kill of the process this needs no sync at all, because the kernel
// keeps what was written. Against a loss of power, Linux syncs the staged files
// (all together if there are many) and then the journal and its folders before
// it continues, so that a journal on disk has its bytes on disk; file systems keep
// the order of the names that change after it. Other systems sync only the
// journal: after a loss of power a file may be empty, which is reported as a
// conflict, and is not a silent loss.
// # Deterministic
// Paths are unique and sorted, and the inventory's bytes depend only on its
// entries, not on the time or the order of reading.
package tree
