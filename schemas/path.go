package schemas

import (
	"slices"
	"strconv"
	"strings"
)

// pathOf converts a path in the notation of the API server's code (spec.list[0].field) to steps.
// Field names may contain dots and brackets, so the object determines where a name ends. A part
// that is not in the object becomes one last name.
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

// follow follows a path as far as the object has it. If a path can be split in several ways, it returns the steps that
// leave the shortest rest, with the rest.
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

// prefixes returns the keys with which a string starts, the longest first.
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

// bracketed returns the keys in brackets with which a string starts, the longest first: the API
// server's code writes the keys of maps like this.
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

// index parses [n], or n. as the validator sometimes writes it.
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

// valueAt returns the value at a path.
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
