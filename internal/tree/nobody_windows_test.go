package tree

import "testing"

// asNobody is not used on Windows, which has no read-only folders.
func asNobody(t *testing.T, _, _, _ string) string {
	t.Helper()
	t.Skip("Windows has no read-only folders")
	return ""
}
