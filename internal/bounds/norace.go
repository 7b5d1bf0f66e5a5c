//go:build !race

package bounds

// raceFactor is how many times more CPU time a program with the race detector may take.
const raceFactor = 1
