//go:build !race

package bootstrap

import "time"

// patience is how long a hostile bootstrap may take on a busy machine.
const patience = 10 * time.Second
