package testuser

import (
	"os"
	"testing"
)

// TestAgain: a test goes on only where the permissions of files hold.
func TestAgain(t *testing.T) {
	if Again(t) {
		if os.Geteuid() > 0 {
			t.Error("it ran again as a user other than root")
		}
		return
	}
	if !bound(t) {
		t.Error("the permissions of files do not hold")
	}
}
