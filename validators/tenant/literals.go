package tenant

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// hoist takes the text literals out of an expression of CEL, and gives the expression with
// a variable in place of each, and their values by name. The policies of many tenants
// differ in their literals only: one program serves all of them. A literal that isn't
// plain (r"", b"", three quotes, an escape that Go doesn't know) stays.
func hoist(expression string) (text string, values map[string]string) {
	return hoistUnless(expression, func(string) bool { return false })
}

// hoistCalled leaves the literals that are passed to functions that no cost bounds where they are.
func hoistCalled(expression string) (text string, values map[string]string) {
	return hoistUnless(expression, func(before string) bool {
		before = strings.TrimRight(before, " \t\n")
		return slices.ContainsFunc([]string{"matches(", "find(", "findAll(", "uantity("}, func(call string) bool { return strings.HasSuffix(before, call) })
	})
}

// hoistUnless hoists the literals but those that stay where they are after what is before them.
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

// literalEnd is the length of the literal that a text starts with.
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

// escaped are the escapes that mean a byte to Go and a character to CEL.
var escaped = regexp.MustCompile(`\\[x0-7]`)

// unquote gives the value of a literal where Go reads it as CEL does.
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

// followsPrefix says whether a literal's prefix (r, b) ends a text.
func followsPrefix(before string) bool {
	if before == "" {
		return false
	}
	return strings.ContainsAny(before[len(before)-1:], "rRbB")
}
