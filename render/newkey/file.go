package newkey

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/replace"
)

// Save writes a key pair to a new file that only its owner can read, as age-keygen does. It writes the file
// completely or not at all, and never overwrites one. It creates the folder if necessary.
func Save(file, private, public string, now time.Time) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	base := filepath.Base(file)
	err = replace.New(root, "."+base+"."+rand.Text(), base, 0o600, func(f *os.File) error {
		_, err := fmt.Fprintf(f, "# created: %s\n# public key: %s\n%s\n", now.Format(time.RFC3339), public, private)
		return errors.Join(err, f.Sync())
	})
	if errors.Is(err, fs.ErrExist) {
		return advice.Input(errors.New(file+" already exists, and may be the only copy of a key"), "name another file with --out; to use the key in this file, add the public key that age-keygen -y prints to the specification")
	}
	return err
}
