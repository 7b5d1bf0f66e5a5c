// Package located holds YAML values with the file and line where they are written. A value may also be unknown, with a
// reason. The package reads YAML nodes, and merges and compares values as Helm does. The results
// keep their places.
package located
