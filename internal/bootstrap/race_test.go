//go:build race

package bootstrap

import "time"

// patience is how long a hostile bootstrap may take, several at once under the race detector.
const patience = 30 * time.Second
