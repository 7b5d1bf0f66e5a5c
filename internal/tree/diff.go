package tree

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/fleetwright/fleetwright/internal/output"
)

// Diff writes a unified diff of everything that would change, and of each conflict from the existing
// to the rendered file, in the order of the paths. Without color, `git apply` accepts it: a line that
// starts with "# " before a file's diff, which git skips, reports a conflict or something that is not
// shown (bytes of other files that are not text or that could control a terminal or a build, secrets
// in plaintext and encrypted ones, large files) or that is left to the user. With color it is for a
// terminal, and control characters are made visible.
func (p *Plan) Diff(w io.Writer, color bool) error {
	d := &differ{w: bufio.NewWriter(output.Raw(w))}
	if color {
		d.terminal = output.NewText(d.w, true)
	}
	conflicts := p.Conflicts
	for step := range p.Changes() {
		for len(conflicts) > 0 && conflicts[0].Path < step.Path {
			d.conflict(conflicts[0])
			conflicts = conflicts[1:]
		}
		d.file(step.Path, step.Old, step.New)
	}
	for _, c := range conflicts {
		d.conflict(c)
	}
	for _, l := range p.Left {
		d.note(l.Message())
	}
	if err := d.w.Flush(); err != nil {
		return fmt.Errorf("writing the diff: %w", err)
	}
	return nil
}

// Diff returns the unified diff from the existing to the rendered file, as Plan.Diff
// writes it without color.
func (c Conflict) Diff() []byte {
	var out bytes.Buffer
	d := &differ{w: bufio.NewWriter(&out)}
	d.conflict(c)
	_ = d.w.Flush() // a Buffer never fails
	return out.Bytes()
}

// differ writes diffs; the writer keeps the first error.
type differ struct {
	w *bufio.Writer
	// terminal receives lines with colours; nil for a patch.
	terminal *output.Text
}

func (d *differ) conflict(c Conflict) {
	d.note(c.Message())
	switch {
	case c.Kind == Blocked:
	case c.Current == nil:
		d.note(fmt.Sprintf("%q is not shown: it is too large or not a regular file", c.Path))
	case isEncrypted(c.Current) || isEncrypted(c.Desired):
		d.note(fmt.Sprintf("%q is not shown: it is encrypted", c.Path))
	default:
		d.file(c.Path, c.Current, c.Desired)
	}
}

// file writes the diff of one file; nil means no file.
func (d *differ) file(path string, old, desired []byte) {
	for _, content := range [][]byte{old, desired} {
		if bytes.IndexByte(content, 0) >= 0 {
			d.note(fmt.Sprintf("%q is not shown: it is not text", path))
			return
		}
		if err := output.Check(content); err != nil && d.terminal == nil {
			d.note(fmt.Sprintf("%q is not shown: %v", path, err))
			return
		}
		if holdsSecret(content) {
			d.note(fmt.Sprintf("%q is not shown: it contains a secret in plaintext", path))
			return
		}
		if isEncrypted(content) {
			d.note(fmt.Sprintf("%q is not shown: it is encrypted, and would be %s", path, changeOf(old, desired)))
			return
		}
	}
	from, to := quotePath("a/"+path), quotePath("b/"+path)
	d.line(output.Bold, "diff --git "+from+" "+to)
	if old == nil {
		d.line(output.Bold, "new file mode 100644")
		from = "/dev/null"
	}
	if desired == nil {
		d.line(output.Bold, "deleted file mode 100644")
		to = "/dev/null"
	}
	// The library's first three lines contain the names, which it does not quote.
	rest := diff.Diff("a", old, "b", desired)
	for range 3 {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	if len(rest) == 0 {
		return
	}
	// git ends a name with a tab if it contains a space.
	d.line(output.Bold, "--- "+tabbed(from))
	d.line(output.Bold, "+++ "+tabbed(to))
	for line := range bytes.Lines(rest) {
		d.hunkLine(strings.TrimSuffix(string(line), "\n"))
	}
}

// changeOf returns a word for the change of a file.
func changeOf(old, desired []byte) string {
	switch {
	case old == nil:
		return "created"
	case desired == nil:
		return "deleted"
	}
	return "replaced"
}

func (d *differ) hunkLine(line string) {
	switch {
	case strings.HasPrefix(line, "@@"):
		d.line(output.Cyan, line)
	case strings.HasPrefix(line, "-"):
		d.line(output.Red, line)
	case strings.HasPrefix(line, "+"):
		d.line(output.Green, line)
	default:
		d.line("", line)
	}
}

func (d *differ) note(message string) { d.line(output.Yellow, output.Inert(output.Line("# "+message))) }

// line writes a line. bufio.Writer keeps an error until Flush. The lines of a patch are
// printable, because their files were checked.
func (d *differ) line(colour output.Colour, line string) {
	if d.terminal != nil {
		_ = d.terminal.Printf("%s\n", output.Paint(colour, line))
		return
	}
	_, _ = d.w.WriteString(line)
	_ = d.w.WriteByte('\n')
}

// quotePath quotes a name as git does if it could be misread.
func quotePath(p string) string {
	if !strings.ContainsAny(p, "\"\\") && output.Inert(p) == p {
		return p
	}
	var quoted strings.Builder
	for _, b := range []byte(p) {
		switch {
		case b == '"' || b == '\\':
			quoted.WriteString(`\` + string(rune(b)))
		case b < ' ' || b >= 0x7f || b == '[' || b == ':':
			fmt.Fprintf(&quoted, `\%03o`, b)
		default:
			quoted.WriteByte(b)
		}
	}
	return `"` + quoted.String() + `"`
}

func tabbed(name string) string {
	if strings.Contains(name, " ") && !strings.HasPrefix(name, `"`) {
		return name + "\t"
	}
	return name
}

// Patterns of secrets that a user's file may contain: a diff may end up in a build's log.
var (
	secretKind = regexp.MustCompile(`\bkind["']?\s*:\s*["']?Secret\b`)
	secretData = regexp.MustCompile(`\b(?:stringData|data)["']?\s*:`)
	sopsBlock  = regexp.MustCompile(`(?m)^\s*["']?sops["']?\s*:`)
	sopsMAC    = regexp.MustCompile(`(?m)^\s+["']?mac["']?\s*:\s*["']?ENC\[`)
	privateKey = regexp.MustCompile(`AGE-SECRET-KEY-1|-----BEGIN [A-Z ]*PRIVATE KEY-----`)
)

// holdsSecret reports whether a file may contain a secret in plaintext: a private key, or a Secret
// with data in a document without SOPS metadata.
func holdsSecret(content []byte) bool {
	if privateKey.Match(content) {
		return true
	}
	for doc := range bytes.SplitSeq(content, []byte("\n---")) {
		if secretKind.Match(doc) && secretData.Match(doc) && !sopsBlock.Match(doc) {
			return true
		}
	}
	return false
}

// isEncrypted reports whether SOPS encrypted a file, so that its content is unreadable.
func isEncrypted(content []byte) bool { return sopsBlock.Match(content) && sopsMAC.Match(content) }
