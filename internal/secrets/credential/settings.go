package credential

import "strings"

// mostLine is how long a line of settings may be, in bytes.
const mostLine = 8 << 10

// SettingIn names the first setting in a text of lines, as in YAML, JSON or a file of variables,
// whose value is most likely a secret in clear; "" where there is none.
func SettingIn(text string) string {
	for line := range strings.Lines(text) {
		if len(line) > mostLine || !nameStems.in(line) && !strings.Contains(line, "://") {
			continue
		}
		if field, value := setting(line); LooksSecret(field, value) || HasPassword(value) {
			return field
		}
		if strings.Count(line, ":")+strings.Count(line, "=") < 2 || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for _, found := range assigned.FindAllStringSubmatch(line, -1) { // several in a line, as in JSON
			if field := strings.TrimLeft(found[1], "-"); LooksSecret(field, found[2]) {
				return field
			}
		}
	}
	return ""
}

// setting reads a line of settings: NAME: VALUE or NAME=VALUE, with a comment behind it or not.
func setting(line string) (field, value string) {
	line = strings.TrimSpace(line)
	at := strings.IndexAny(line, ":=")
	if at < 0 || line[0] == '#' {
		return "", ""
	}
	return strings.Trim(line[:at], "\"'- \t"), Unquoted(strings.TrimSpace(line[at+1:]))
}

// Unquoted is the value of a line of settings without its quotes, and without the comma or the
// comment behind it.
func Unquoted(value string) string {
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		if end := strings.IndexByte(value[1:], value[0]); end >= 0 {
			return value[1 : 1+end]
		}
	}
	value, _, _ = strings.Cut(value, " #")
	return strings.Trim(strings.TrimSpace(value), `"',`)
}
