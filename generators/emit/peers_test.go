//go:build peers

package emit

import (
	"os"
	"testing"
)

// TestCommandsWithCurl is TestCommandsOfARelease with the real curl.
func TestCommandsWithCurl(t *testing.T) { checkCommands(t, os.Getenv("PATH")) }
