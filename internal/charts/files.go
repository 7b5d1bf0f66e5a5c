package charts

import (
	"encoding/base64"
	"errors"
	"path"
	"reflect"
	"strings"

	"github.com/gobwas/glob"
	"helm.sh/helm/v4/pkg/chart/common"
	"sigs.k8s.io/yaml"
)

// chartFiles is .Files of a template: path → content. What its methods cost is counted where
// a template calls them.
// Source: helm.sh/helm/v4 pkg/engine/files.go.
type chartFiles map[string][]byte

func newFiles(from []*common.File) chartFiles {
	files := chartFiles{}
	for _, f := range from {
		files[f.Name] = f.Data
	}
	return files
}

// GetBytes is a file's content; none is empty.
func (f chartFiles) GetBytes(name string) []byte {
	if v, ok := f[name]; ok {
		return v
	}
	return []byte{}
}

// Get is a file's content as text.
func (f chartFiles) Get(name string) string { return string(f.GetBytes(name)) }

// mostStars of a pattern: matching may try all ways to place them.
const mostStars = 6

// Glob gives the files that match a pattern.
func (f chartFiles) Glob(pattern string) (chartFiles, error) {
	if len(pattern) > 500 || strings.Count(pattern, "*")+strings.Count(pattern, "{")+strings.Count(pattern, "?") > mostStars*2 {
		return nil, errors.New("the pattern of a glob is too long")
	}
	g, err := glob.Compile(pattern, '/')
	if err != nil {
		g = glob.MustCompile("**")
	}
	matching := chartFiles{}
	for name, content := range f {
		if g.Match(name) {
			matching[name] = content
		}
	}
	return matching, nil
}

// AsConfig is the files as data of a ConfigMap.
func (f chartFiles) AsConfig() string {
	return f.data(func(content []byte) string { return string(content) })
}

// AsSecrets is the files as data of a Secret.
func (f chartFiles) AsSecrets() string { return f.data(base64.StdEncoding.EncodeToString) }

func (f chartFiles) data(text func([]byte) string) string {
	if f == nil {
		return ""
	}
	m := map[string]string{}
	for name, content := range f {
		m[path.Base(name)] = text(content)
	}
	return encoded(m, yaml.Marshal, false)
}

// Lines are the lines of a file.
func (f chartFiles) Lines(name string) []string {
	if len(f[name]) == 0 {
		return []string{}
	}
	return strings.Split(strings.TrimSuffix(string(f[name]), "\n"), "\n")
}

// values is .Values, and all that a template sees. Its methods are those of Helm's type,
// without one that writes.
// Source: helm.sh/helm/v4 pkg/chart/common/values.go.
type values map[string]any

// YAML is the values as text.
func (v values) YAML() (string, error) {
	if _, err := weigh(reflect.ValueOf(v), 1<<20); err != nil {
		return "", err
	}
	data, err := yaml.Marshal(v)
	return string(data), err
}

// AsMap is the values as a map, never nil.
func (v values) AsMap() map[string]any {
	if len(v) == 0 {
		return map[string]any{}
	}
	return v
}

// Table is a map in the values, by its path with dots.
func (v values) Table(name string) (values, error) {
	table := v
	for part := range strings.SplitSeq(name, ".") {
		switch next := table[part].(type) {
		case map[string]any:
			table = next
		case values:
			table = next
		default:
			return table, common.ErrNoTable{Key: part}
		}
	}
	return table, nil
}

// PathValue is a value that is no map, by its path with dots.
func (v values) PathValue(name string) (any, error) { return common.Values(v).PathValue(name) }
