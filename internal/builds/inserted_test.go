package builds

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// TestInserted: what vars insert is no longer than the longest text of a file, and of a file that is not YAML than the file.
func TestInserted(t *testing.T) {
	uses := []byte("a: " + strings.Repeat("$(V)", 300) + "\n")
	short := []byte(strings.Repeat("- abcdefghijklmnopqrstuvwxyz\n", 100_000))
	for name, c := range map[string]struct {
		files  [][]byte
		beyond bool
	}{
		"many short texts":           {[][]byte{short, uses}, false},
		"a long text":                {[][]byte{short, []byte("a: " + strings.Repeat("x", 1<<20)), uses}, true},
		"a long text, later":         {[][]byte{uses, short, []byte("a: " + strings.Repeat("x", 1<<20))}, true},
		"a file that is not YAML":    {[][]byte{[]byte("a: b: c\n" + strings.Repeat("x\n", 1<<19)), uses}, true},
		"names that are not of vars": {[][]byte{[]byte(strings.ReplaceAll(string(uses), "V", "W")), []byte("a: " + strings.Repeat("x", 1<<20))}, false},
	} {
		n, most := &inserted{}, 0
		for i, data := range c.files {
			vars := []string(nil)
			if i == 0 {
				vars = []string{"V"}
			}
			most = n.add(vars, data)
		}
		if got := most > limits.Inserted; got != c.beyond {
			t.Errorf("%s: %d bytes are inserted", name, most)
		}
	}
}
