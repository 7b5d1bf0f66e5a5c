//go:build race

package envelope_test

// raced says whether the race detector is on.
const raced = true
