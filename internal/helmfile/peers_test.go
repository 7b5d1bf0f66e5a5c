//go:build peers

package helmfile

import (
	"os"
	"strconv"
	"testing"
)

// TestMoreRandomHelmfiles compares more random helmfiles than the records have: FLEETWRIGHT_HELMFILES of them, from the seed
// FLEETWRIGHT_HELMFILE_SEED on.
func TestMoreRandomHelmfiles(t *testing.T) {
	compareRandom(t, fromEnvironment("FLEETWRIGHT_HELMFILE_SEED", randomHelmfiles+1), fromEnvironment("FLEETWRIGHT_HELMFILES", 75), true)
}

func fromEnvironment(variable string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return otherwise
}
