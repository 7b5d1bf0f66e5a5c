package finding

import "bytes"

// IsOwn reports whether a file is a baseline, a report or a configuration of Fleetwright. If such a file names another file
// or an object, nothing uses the file or creates the object.
func IsOwn(text []byte) bool {
	has := func(word string) bool { return bytes.Contains(text, []byte(word)) }
	switch start := bytes.TrimLeft(text, " \t\r\n\ufeff"); {
	case bytes.HasPrefix(start, []byte("{")), bytes.HasPrefix(start, []byte("[")):
		return has(`"fingerprint"`) && (has(`"findings"`) || has(`"check_name"`)) || // a baseline, JSON report or GitLab report
			has(`"runs"`) && has(`"Fleetwright"`) // SARIF
	case bytes.HasPrefix(start, []byte("<?xml")):
		return has(`name="fleetwright"`) // JUnit
	}
	return has("fleetwright.dev/v1alpha1") && has("kind: ValidateFleet")
}
