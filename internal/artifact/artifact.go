// Package artifact packs the files of a source into an archive whose bytes depend only on the files, and reads the
// archives of others. A path that leads out of the archive is an error; links are skipped, as source-controller skips them.
package artifact

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// Limits of an archive.
const (
	// Most is the size of the largest archive, in bytes.
	Most = 60 << 20
	// overhead is the size of a file in an archive in addition to its content, in bytes.
	overhead = 1 << 10
)

// Files are contents by path, relative and with forward slashes.
type Files map[string][]byte

// Pack returns the archive of files.
func Pack(files Files) ([]byte, error) {
	if err := Fits(func(yield func(string, int64) bool) {
		for name, data := range files {
			if !yield(name, int64(len(data))) {
				return
			}
		}
	}); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	packed := tar.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(files[name])), ModTime: time.Unix(0, 0)}
		if err := packed.WriteHeader(&header); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if _, err := packed.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err := packed.Close()
	return out.Bytes(), err
}

// Fits returns an error if files with these names and sizes, in bytes, cannot be packed into an archive.
func Fits(sizes func(yield func(name string, size int64) bool)) error {
	total, count := int64(0), 0
	for name, size := range sizes {
		if !valid(name) {
			return fmt.Errorf("the path %q leads out of the source", name)
		}
		count++
		if total += size + overhead; total > Most || count > limits.Files {
			return fmt.Errorf("it has more than %d MB or %d files; exclude unused files with spec.ignore", Most>>20, limits.Files)
		}
	}
	return nil
}

func valid(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.ContainsAny(name, "\\\x00")
}

// Unpack returns the files of an archive that Pack created.
func Unpack(data []byte) (Files, error) { return read(bytes.NewReader(data)) }

// Extract returns the files of a tar.gz archive. As source-controller does, it fails if a path leads out of the archive or
// if the archive exceeds the limits.
func Extract(data []byte) (Files, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("it is not a tar.gz archive")
	}
	return read(unzipped)
}

func read(from io.Reader) (Files, error) {
	files, total := Files{}, int64(0)
	archive := tar.NewReader(io.LimitReader(from, 2*Most))
	for {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return files, nil
		case err != nil:
			return nil, fmt.Errorf("the archive is not valid: %w", err)
		}
		name := path.Clean(strings.TrimPrefix(header.Name, "./"))
		if total += overhead; total > Most || len(files) > limits.Files {
			return nil, tooMuch()
		}
		if strings.HasPrefix(header.Name, "/") || slices.Contains(strings.Split(header.Name, "/"), "..") || name != "." && !valid(name) {
			return nil, fmt.Errorf("the path %q leads out of the archive", header.Name)
		}
		if header.Typeflag != tar.TypeReg {
			continue // folders come with their files; links and devices are left out
		}
		if total += header.Size; total > Most || header.Size < 0 {
			return nil, tooMuch()
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return nil, fmt.Errorf("the archive is not valid: %w", err)
		}
		files[name] = data
	}
}

func tooMuch() error {
	return fmt.Errorf("the archive has more than %d MB or %d files", Most>>20, limits.Files)
}
