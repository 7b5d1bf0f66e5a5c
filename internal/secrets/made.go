package secrets

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// AnnotationMade is the annotation of a Secret's file that Fleetwright made: the
// digest of its values as they are encrypted. SOPS encrypts a value that somebody
// changes to another text and leaves the others, as it does when the file is given
// to other readers. So the digest tells a file that still holds what was made.
const AnnotationMade = "fleetwright.dev/made"

// NotMade is the value of AnnotationMade before the file is encrypted.
var NotMade = strings.Repeat("0", 2*sha256.Size)

// MarkMade writes the digest of an encrypted Secret's values into its AnnotationMade,
// over the one that was there; a file is as it was where it has none in plaintext, or where
// its checksum is of annotations too.
func MarkMade(content []byte) []byte {
	mark, values, ok := readMade(content)
	if !ok || bytes.Count(content, []byte(mark)) != 1 {
		return content
	}
	return bytes.Replace(content, []byte(mark), []byte(values), 1)
}

// AsMade says whether an encrypted Secret holds what Fleetwright made, and nothing that
// somebody changed.
func AsMade(content []byte) bool {
	mark, values, ok := readMade(content)
	return ok && mark == values
}

// readMade reads the annotation of an encrypted Secret, and what it says of one that
// is as it was made.
func readMade(content []byte) (mark, digest string, ok bool) {
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
		mark = value(annotations, AnnotationMade)
	}
	return mark, digestOf(root), len(mark) == len(NotMade)
}

// digestOf is the digest of a Secret's encrypted values, by their keys.
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
