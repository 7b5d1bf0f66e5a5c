package tenant

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// hoist replaces the string literals in a CEL expression by variables. It returns the new expression, and the values of
// the variables. The policies of many tenants differ only in their literals, so one program serves all of them. A special
// literal (r"", b"", three quotes, an escape that Go does not know) remains.
func hoist(expression string) (text string, values map[string]string) {
	return hoistUnless(expression, func(string) bool { return false })
}

// hoistExceptArguments is like hoist, but keeps the literals that are passed to functions whose cost CEL does not limit.
func hoistExceptArguments(expression string) (text string, values map[string]string) {
	return hoistUnless(expression, func(before string) bool {
		before = strings.TrimRight(before, " \t\n")
		return slices.ContainsFunc([]string{"matches(", "find(", "findAll(", "uantity("}, func(call string) bool { return strings.HasSuffix(before, call) })
	})
}

// hoistUnless hoists the literals for which stays returns false. stays is called with the expression before the
// literal.
func hoistUnless(expression string, stays func(before string) bool) (text string, values map[string]string) {
	var b strings.Builder
	values = map[string]string{}
	for i := 0; i < len(expression); {
		c := expression[i]
		if c == '/' && strings.HasPrefix(expression[i:], "//") { // a comment
			end := strings.IndexByte(expression[i:], '\n')
			if end < 0 {
				break
			}
			i += end
			continue
		}
		if c != '"' && c != '\'' {
			b.WriteByte(c)
			i++
			continue
		}
		end := literalEnd(expression[i:])
		literal := expression[i : i+end]
		value, plain := unquote(literal)
		if plain && !followsPrefix(expression[:i]) && !stays(expression[:i]) {
			name := "literal_" + strconv.Itoa(len(values))
			values[name] = value
			literal = " " + name + " "
		}
		b.WriteString(literal)
		i += end
	}
	return b.String(), values
}

// literalEnd returns the length of the literal at the beginning of a string.
func literalEnd(text string) int {
	quote := text[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text, triple) {
		quote = triple
	}
	for i := len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], quote):
			return i + len(quote)
		}
	}
	return len(text)
}

// escaped matches the escapes that mean a byte in Go and a character in CEL.
var escaped = regexp.MustCompile(`\\[x0-7]`)

// unquote returns the value of a literal. It returns false if Go and CEL may read it differently.
func unquote(literal string) (string, bool) {
	if len(literal) < 2 || strings.HasPrefix(literal, `"""`) || strings.HasPrefix(literal, "'''") || strings.ContainsAny(literal, "\n`") {
		return "", false
	}
	body := literal[1 : len(literal)-1]
	if literal[0] == '\'' {
		if strings.ContainsAny(body, `\"`) {
			return "", false
		}
		return body, true
	}
	value, err := strconv.Unquote(literal)
	return value, err == nil && !escaped.MatchString(body)
}

// followsPrefix reports whether a string ends in the prefix of a literal (r, b).
func followsPrefix(before string) bool {
	if before == "" {
		return false
	}
	return strings.ContainsAny(before[len(before)-1:], "rRbB")
}
