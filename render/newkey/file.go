package newkey

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Save writes a key pair to a new file that only its owner can read, as age-keygen does: whole, or
// not at all, and never over a file that is there. Its folder is made where it isn't there.
func Save(file, private, public string, now time.Time) (err error) {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp := filepath.Join(dir, fmt.Sprintf(".%s.%s", filepath.Base(file), rand.Text()))
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(temp)) }()
	_, err = fmt.Fprintf(f, "# created: %s\n# public key: %s\n%s\n", now.Format(time.RFC3339), public, private)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	// A link, other than a rename, fails where there is a file.
	err = os.Link(temp, file)
	if errors.Is(err, fs.ErrExist) {
		return &Error{Message: file + " exists already, and may be the only copy of a key", hint: "name another file with --out; to use the key in it, put the public key that age-keygen -y prints into the specification"}
	}
	return err
}

// Error is an error of what the user gave.
type Error struct {
	Message string
	hint    string
}

func (e *Error) Error() string { return e.Message }

// Hint is the way out.
func (e *Error) Hint() string { return e.hint }
