//go:build tools

package main

import "testing"

// TestFailed: what fails before the time is over is told from what the end of the time interrupts.
func TestFailed(t *testing.T) {
	for out, want := range map[string]bool{
		"ok  \tx/a\t0.1s\n--- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\tx/b\t0.1s\n": true,
		"=== RUN   TestA\n    --- FAIL: TestA/b (0.00s)\n":                                       true,
		"# x/b\nb.go:1:1: syntax error\nFAIL\tx/b [build failed]\n":                              true,
		"panic: no\n\ngoroutine 1 [running]:\n":                                                  true,
		"ok  \tx/a\t0.1s\nsignal: interrupt\nFAIL\tx/b\t2.1s\nFAIL\n":                            false,
	} {
		if got := failed.MatchString(out); got != want {
			t.Errorf("%v for\n%s", got, out)
		}
	}
}
