package gitrepo

import (
	"errors"
	"regexp"
	"strings"
)

// globPattern converts a glob pattern of git to a regular expression for whole paths.
// Source: git's wildmatch.c, with WM_PATHNAME.
func globPattern(pattern string, fold bool) (*regexp.Regexp, error) {
	var out strings.Builder
	out.WriteString(`(?s)\A`)
	if fold {
		out.Reset()
		out.WriteString(`(?si)\A`)
	}
	for i := 0; i < len(pattern); {
		switch c := pattern[i]; c {
		case '*':
			n := len(pattern[i:]) - len(strings.TrimLeft(pattern[i:], "*"))
			before := i == 0 || pattern[i-1] == '/'
			rest := pattern[i+n:]
			switch {
			case n >= 2 && before && strings.HasPrefix(rest, "/"):
				out.WriteString(`(?:.*/)?`)
				n++
			case n >= 2 && before && rest == "":
				out.WriteString(`.*`)
			default:
				out.WriteString(`[^/]*`)
			}
			i += n
		case '?':
			out.WriteString(`[^/]`)
			i++
		case '[':
			class, n, err := globClass(pattern[i:])
			if err != nil {
				return nil, err
			}
			out.WriteString(class)
			i += n
		case '\\':
			if i++; i >= len(pattern) {
				return nil, errors.New("a pattern ends with a backslash")
			}
			out.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
			i++
		default:
			out.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
			i++
		}
	}
	return regexp.Compile(out.String() + `\z`)
}

// globClass converts a character class, and returns its length in the pattern. No class matches a slash.
func globClass(pattern string) (string, int, error) {
	var out strings.Builder
	i := 1
	not := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if not {
		i++
	}
	for begin := i; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == ']' && i > begin:
			if not {
				return `[^/` + out.String() + `]`, i + 1, nil
			}
			return `[` + out.String() + `]`, i + 1, nil
		case c == '[' && strings.HasPrefix(pattern[i:], "[:"):
			end := strings.Index(pattern[i:], ":]")
			if end < 0 {
				return "", 0, errors.New("an open class")
			}
			out.WriteString(pattern[i : i+end+2])
			i += end + 1
		case c == '\\' && i+1 < len(pattern):
			i++
			out.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		case c == '-' && i > begin && i+1 < len(pattern) && pattern[i+1] != ']':
			out.WriteByte('-')
		case c == '/':
		default:
			out.WriteString(`\x{` + hex(c) + `}`)
		}
	}
	return "", 0, errors.New("an open class")
}

func hex(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}
