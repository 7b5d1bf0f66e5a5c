package templates

import (
	"regexp"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

var (
	// failing is the part of a template's error that tells what was evaluated and which function failed.
	failing = regexp.MustCompile(`(?s) at <(.*?)>: error calling [A-Za-z]+: `)
	// fieldName is the name of a field or variable in an expression.
	fieldName = regexp.MustCompile(`[.$]([A-Za-z_][A-Za-z0-9_]*)`)
)

// drawn stands for a secret where only the name of its field is judged.
const drawn = "qT7-drawn-4xR8zK2m"

// withoutSecrets is the error of a template without the values that its functions were given: all that a
// function says of a field that is named as secrets are, and what looks drawn in the message of fail.
func withoutSecrets(reason string) string {
	for _, at := range failing.FindAllStringSubmatchIndex(reason, -1) {
		for _, field := range fieldName.FindAllStringSubmatch(reason[at[2]:at[3]], -1) {
			if credential.HideLine(field[1], drawn) {
				return reason[:at[1]] + finding.Hidden
			}
		}
	}
	const calling = "error calling fail: "
	before, message, failed := strings.Cut(reason, calling)
	if !failed {
		return reason
	}
	for _, word := range strings.FieldsFunc(message, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`,;:=@{}[]()", r) }) {
		if credential.IsDrawn(word) {
			message = strings.ReplaceAll(message, word, finding.Hidden)
		}
	}
	return before + calling + message
}
