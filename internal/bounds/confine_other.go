//go:build !linux || (!amd64 && !arm64)

package bounds

// confine changes nothing here: a process cannot take from itself what it is allowed.
func confine(Confinement) error { return nil }
