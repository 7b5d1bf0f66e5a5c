package templates

import (
	"regexp"
	"strings"

	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

var (
	// failing matches the part of a template's error with the expression and the function that failed.
	failing = regexp.MustCompile(`(?s) at <(.*?)>: error calling [A-Za-z]+: `)
	// fieldName matches the name of a field or variable in an expression.
	fieldName = regexp.MustCompile(`[.$]([A-Za-z_][A-Za-z0-9_]*)`)
)

// drawn is an example of a secret value, used to judge only the name of its field.
const drawn = "qT7-drawn-4xR8zK2m"

// withoutSecrets returns the error of a template without the values of its functions' arguments: it hides everything that a
// function reports about a field with the name of a secret, and strings that look randomly generated in the message of fail.
func withoutSecrets(reason string) string {
	for _, at := range failing.FindAllStringSubmatchIndex(reason, -1) {
		for _, field := range fieldName.FindAllStringSubmatch(reason[at[2]:at[3]], -1) {
			if credential.HideLine(field[1], drawn) {
				return reason[:at[1]] + mask.Hidden
			}
		}
	}
	const calling = "error calling fail: "
	before, message, failed := strings.Cut(reason, calling)
	if !failed {
		return reason
	}
	for _, word := range strings.FieldsFunc(message, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`,;:=@{}[]()", r) }) {
		if credential.IsSurelyRandom(word) {
			message = strings.ReplaceAll(message, word, mask.Hidden)
		}
	}
	return before + calling + message
}
