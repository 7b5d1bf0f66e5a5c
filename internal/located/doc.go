// Package located holds YAML values that know the file and line where they are written, and why a value is not
// known. YAML nodes go in; values come out, which merge and compare as Helm merges and compares them and keep
// their places.
package located
