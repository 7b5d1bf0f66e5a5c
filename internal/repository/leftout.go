package repository

import (
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// LeftOut returns the files of a source that source-controller excludes from the artifact, because of the .sourceignore files
// among them and the spec.ignore of the source. read returns the content of a file. The error is an [*Error] if the patterns
// exceed a limit.
func LeftOut(files []string, read func(path string) ([]byte, error), spec string) (map[string]bool, error) {
	i := newIgnore()
	files = slices.Clone(files)
	slices.Sort(files)
	var dirs []string
	for _, file := range files {
		if path.Base(file) == sourceIgnore {
			dirs = append(dirs, path.Dir(file))
		}
	}
	slices.Sort(dirs) // parents come before their children
	for _, dir := range dirs {
		data, err := read(path.Join(dir, sourceIgnore))
		if err != nil {
			return nil, err
		}
		if len(data) > limits.IgnoreBytes {
			i.exceed(dir, "is larger than "+megabytes(limits.IgnoreBytes))
			break
		}
		i.add(dir, data)
	}
	if strings.TrimSpace(spec) != "" {
		i.add(".", []byte(spec))
	}
	out := map[string]bool{}
	for _, file := range files {
		if i.matches(file) {
			out[file] = true
		}
	}
	if failed := i.exceeded(); failed != nil {
		return nil, failed
	}
	return out, nil
}
