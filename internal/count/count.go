// Package count counts, before work begins, how much work the input of a repository causes in a library: the
// digits and exponents of numbers, the instructions of regular expressions, the elements of lists
// that an index creates. Each counter is exact and cheap, and its limit is far above what any
// repository needs; docs/security.md lists them.
package count

import "fmt"

// Error names the counter that is above its limit.
type Error struct{ message string }

func (e *Error) Error() string { return e.message }

// Errorf formats an *Error.
func Errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// times multiplies two counts. It caps the product at a number above all limits.
func times(a, b int) int {
	const most = 1 << 40
	if a > 0 && b > most/a {
		return most
	}
	return min(a*b, most)
}
