package secrets

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// AnnotationGenerated is the annotation of a Secret's file that Fleetwright generated: the digest of its
// encrypted values. If a user changes a value, SOPS encrypts it to another string; it does not
// change the other values, even if the recipients change. The digest therefore shows whether the
// file still has the generated values.
const AnnotationGenerated = "fleetwright.dev/made"

// NoDigest is the value of AnnotationGenerated before the file is encrypted.
var NoDigest = strings.Repeat("0", 2*sha256.Size)

// MarkGenerated writes the digest of an encrypted Secret's values into its AnnotationGenerated. It returns the content
// unchanged if the annotation does not exist in plaintext, or if SOPS's checksum includes annotations.
func MarkGenerated(content []byte) []byte {
	mark, values, ok := readMark(content)
	if !ok || bytes.Count(content, []byte(mark)) != 1 {
		return content
	}
	return bytes.Replace(content, []byte(mark), []byte(values), 1)
}

// HasGeneratedValues reports whether an encrypted Secret still has the values that Fleetwright
// generated.
func HasGeneratedValues(content []byte) bool {
	mark, values, ok := readMark(content)
	return ok && mark == values
}

// readMark returns the annotation of an encrypted Secret, and the digest of its current values. ok
// is false if it has no annotation that may be changed.
func readMark(content []byte) (mark, digest string, ok bool) {
	var doc yaml.Node
	if CheckEncrypted(content) != nil || yaml.Unmarshal(content, &doc) != nil {
		return "", "", false
	}
	root := doc.Content[0]
	if value(field(root, "sops"), "mac_only_encrypted") != "true" {
		return "", "", false
	}
	metadata := field(root, "metadata")
	if metadata == nil {
		return "", "", false
	}
	if annotations := field(metadata, "annotations"); annotations != nil {
		mark = value(annotations, AnnotationGenerated)
	}
	return mark, digestOf(root), len(mark) == len(NoDigest)
}

// digestOf returns the digest of a Secret's encrypted values, sorted by their keys.
func digestOf(root *yaml.Node) string {
	var lines []string
	for _, name := range []string{"data", "stringData"} {
		data := field(root, name)
		for i := 0; data != nil && i+1 < len(data.Content); i += 2 {
			lines = append(lines, name+" "+data.Content[i].Value+" "+data.Content[i+1].Value+"\n")
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:])
}
