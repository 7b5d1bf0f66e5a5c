package schemas

import (
	"slices"
	"strconv"
	"strings"
)

// pathOf turns a path as the API server's code spells it (spec.list[0].field)
// into steps. Field names may hold dots and brackets, so that the object
// decides where a name ends; what is not in the object is one last name.
func pathOf(object any, text string) []any {
	text = strings.TrimPrefix(text, ".")
	if text == "" {
		return nil
	}
	steps, rest := follow(object, text)
	if rest != "" {
		steps = append(steps, strings.TrimPrefix(rest, "."))
	}
	return steps
}

// follow goes as far as the object does, preferring the way that leaves the
// least of the text, and returns what is left.
func follow(value any, text string) ([]any, string) {
	text = strings.TrimPrefix(text, ".")
	if text == "" {
		return nil, ""
	}
	best, left := []any(nil), text
	try := func(step any, child any, rest string) {
		steps, remaining := follow(child, rest)
		if len(remaining) < len(left) {
			best, left = append([]any{step}, steps...), remaining
		}
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range prefixes(v, text) {
			if left == "" {
				break
			}
			try(name, v[name], text[len(name):])
		}
		for _, name := range bracketed(v, text) {
			if left == "" {
				break
			}
			try(name, v[name], text[len(name)+len("[]"):])
		}
	case []any:
		if i, rest, ok := index(text); ok && i < len(v) {
			try(i, v[i], rest)
		}
	}
	return best, left
}

// prefixes are the keys that the text starts with, the longest first.
func prefixes(m map[string]any, text string) []string {
	var names []string
	for end := range len(text) + 1 {
		if end < len(text) && text[end] != '.' && text[end] != '[' {
			continue
		}
		if _, ok := m[text[:end]]; ok && end > 0 {
			names = append(names, text[:end])
		}
	}
	slices.Reverse(names)
	return names
}

// bracketed are the keys that the text starts with in brackets, the longest
// first: the API server's code spells a map's keys so.
func bracketed(m map[string]any, text string) []string {
	if !strings.HasPrefix(text, "[") {
		return nil
	}
	var names []string
	for end := 1; end < len(text); end++ {
		if _, ok := m[text[1:end]]; ok && text[end] == ']' {
			names = append(names, text[1:end])
		}
	}
	slices.Reverse(names)
	return names
}

// index reads [n], or n. as the validator spells it at times.
func index(text string) (int, string, bool) {
	rest, bracket := strings.CutPrefix(text, "[")
	end := strings.IndexAny(rest, "].[")
	number := rest
	if end >= 0 {
		number = rest[:end]
	}
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 {
		return 0, "", false
	}
	rest = rest[len(number):]
	if bracket {
		rest = strings.TrimPrefix(rest, "]")
	}
	return i, rest, true
}

// valueAt returns what is at a path.
func valueAt(value any, path []any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := value.(map[string]any)
			value = m[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}
