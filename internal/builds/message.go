package builds

import (
	"regexp"
	"strings"
)

// brief returns an error of kustomize on one line. It removes kustomize's internal paths, and strings of the
// repository, which may be secret.
func brief(message string) string {
	message, _, _ = strings.Cut(message, " for the following resource:")
	for _, q := range quoted {
		message = q.text.ReplaceAllString(message, q.with)
	}
	message = strings.ReplaceAll(strings.ReplaceAll(message, mount+"/", ""), "'"+mount+"'", "'.'")
	return strings.Join(strings.Fields(address.ReplaceAllString(message, "")), " ")
}

// quoted are the strings of the repository in errors of kustomize: the configuration of a plugin, a
// patch, a value, a literal, a line of an env file, whole objects.
// Source: sigs.k8s.io/kustomize/api v0.21 PatchTransformer.go, NamespaceTransformer.go, PatchJson6902Transformer.go,
// kusttarget.go and kv/kv.go; go.yaml.in/yaml/v3 decode.go.
var quoted = []struct {
	text *regexp.Regexp
	with string
}{
	{regexp.MustCompile("(?s) with config: `.*`: "), ": "},
	{regexp.MustCompile(`(?s)\[patch: ".*"\]`), "the patch"},
	{regexp.MustCompile(`(?s)decoding [\[{-].*: `), "decoding the patch: "},
	{regexp.MustCompile(`(?s)(PatchJson6902Transformer: )decoding .*: `), "${1}decoding the patch: "},
	{regexp.MustCompile("(!![a-z]+) `[^`]*`"), "$1"},
	{regexp.MustCompile(`(?s)(namespace transformation produces ID conflict): .*`), "$1"},
	{regexp.MustCompile(`(?s)invalid literal source .*, expected`), "invalid literal source, expected"},
	{regexp.MustCompile(`(?s)has invalid utf8 bytes : .*`), "has invalid utf8 bytes"},
	{regexp.MustCompile(`(?s)".*" (is not a valid (key|environment))`), "a line $1"},
}

// address matches memory addresses, which some errors of kustomize contain.
var address = regexp.MustCompile(` ?&\{(0x[0-9a-f]+|<nil>)( 0x[0-9a-f]+| <nil>)*\}`)

func firstLine(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if more {
		return line + "…"
	}
	return line
}
