//go:build race

package bounds

// raceFactor is how many times more CPU time a program with the race detector may take.
// Source: https://go.dev/doc/articles/race_detector, "Runtime Overhead".
const raceFactor = 10
