package cycle

import (
	"fmt"
	"slices"
	"testing"
)

func TestParts(t *testing.T) {
	for _, c := range []struct {
		graph map[string][]string
		want  string
	}{
		{map[string][]string{"a": {"b"}, "b": {"c"}}, "[[c] [b] [a]]"},
		{map[string][]string{"a": {"b"}, "b": {"a", "c"}, "c": {"c"}}, "[[c] [a b]]"},
		{map[string][]string{"a": {"b", "d"}, "b": {"c"}, "c": {"b"}, "d": {"c"}}, "[[b c] [d] [a]]"},
		{map[string][]string{"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"b"}}, "[[a b c d]]"},
	} {
		parts := Parts([]string{"a"}, func(n string) []string { return c.graph[n] })
		for _, part := range parts {
			slices.Sort(part)
		}
		if got := fmt.Sprint(parts); got != c.want {
			t.Errorf("the parts of %v are %s, want %s", c.graph, got, c.want)
		}
	}
}

// A chain may be as long as a repository is large.
func TestALongChain(t *testing.T) {
	const long = 100_000
	if n := len(Parts([]int{0}, func(n int) []int { return []int{min(n+1, long-1)} })); n != long {
		t.Errorf("a chain of %d nodes has %d parts", long, n)
	}
}
