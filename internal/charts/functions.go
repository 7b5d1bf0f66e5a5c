package charts

import (
	"fmt"
	"maps"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// functions stand in for those of Helm's engine that would give something else in each run, look
// around, or end the process; the engine itself leaves out env and expandenv.
func (x *execution) functions() template.FuncMap {
	all := x.madeUp()
	maps.Copy(all, allocating())
	maps.Copy(all, template.FuncMap{
		"required": func(message string, value any) (any, error) {
			if text, isText := value.(string); value == nil || isText && text == "" {
				return value, x.choose(message)
			}
			return value, nil
		},
		"fail": func(message string) (string, error) { return "", x.choose(message) },
		"lookup": func(_, _, _, _ string) (map[string]any, error) {
			x.lookups++
			return map[string]any{}, nil
		},
	})
	return all
}

// chosenError is what a chart says with fail or required. Its text is no template's error, which
// Helm would put into other words.
type chosenError struct{ message string }

func (e *chosenError) Error() string { return "the chart fails: " + e.message }

func (x *execution) choose(message string) error {
	x.chosen = &chosenError{message}
	return x.chosen
}

func atOnce(count, bytes int) error {
	if bytes > 0 && count > limits.ChartOutput/bytes {
		return limitf("a template creates a value larger than %d MB", limits.ChartOutput>>20)
	}
	return nil
}

// allocating are the functions that allocate at once what can be far larger than their arguments, and
// those that double a text with each call.
func allocating() template.FuncMap {
	sprigs := sprig.TxtFuncMap()
	all := template.FuncMap{}
	maps.Copy(all, printing(sprigs))
	maps.Copy(all, repeating(sprigs))
	maps.Copy(all, splitting(sprigs))
	return all
}

func printing(sprigs template.FuncMap) template.FuncMap {
	cat, _ := sprigs["cat"].(func(...any) string)
	join, _ := sprigs["join"].(func(string, any) string)
	printed := func(text string) (string, error) { return text, atOnce(1, len(text)) }
	return template.FuncMap{
		"printf":  func(format string, args ...any) (string, error) { return printed(fmt.Sprintf(format, args...)) },
		"print":   func(args ...any) (string, error) { return printed(fmt.Sprint(args...)) },
		"println": func(args ...any) (string, error) { return printed(fmt.Sprintln(args...)) },
		"cat":     func(args ...any) (string, error) { return printed(cat(args...)) },
		"join": func(separator string, list any) (string, error) {
			if err := atOnce(1, joined(separator, list)); err != nil {
				return "", err
			}
			return join(separator, list), nil
		},
	}
}

func repeating(sprigs template.FuncMap) template.FuncMap {
	const number = 8 // bytes
	until, _ := sprigs["until"].(func(int) []int)
	wrapWith, _ := sprigs["wrapWith"].(func(int, string, string) string)
	// An expression may match at every byte, and the replacement may repeat what it matches.
	replacing := func(name string) func(string, string, string) (string, error) {
		plain, _ := sprigs[name].(func(string, string, string) string)
		must, _ := sprigs[name].(func(string, string, string) (string, error))
		return func(pattern, text, replacement string) (string, error) {
			if err := atOnce(len(text)+1, len(replacement)); err != nil {
				return "", err
			}
			if must != nil {
				return must(pattern, text, replacement)
			}
			return plain(pattern, text, replacement), nil
		}
	}
	indent := func(spaces int, text string) (string, error) {
		if err := atOnce(strings.Count(text, "\n")+1, spaces); err != nil {
			return "", err
		}
		pad := strings.Repeat(" ", spaces)
		return pad + strings.ReplaceAll(text, "\n", "\n"+pad), nil
	}
	return template.FuncMap{
		"indent": indent,
		"nindent": func(spaces int, text string) (string, error) {
			text, err := indent(spaces, text)
			return "\n" + text, err
		},
		"repeat": func(count int, text string) (string, error) {
			if err := atOnce(count, len(text)); err != nil {
				return "", err
			}
			return strings.Repeat(text, count), nil
		},
		"regexReplaceAll":            replacing("regexReplaceAll"),
		"regexReplaceAllLiteral":     replacing("regexReplaceAllLiteral"),
		"mustRegexReplaceAll":        replacing("mustRegexReplaceAll"),
		"mustRegexReplaceAllLiteral": replacing("mustRegexReplaceAllLiteral"),
		"replace": func(old, replacement, text string) (string, error) {
			if err := atOnce(strings.Count(text, old), len(replacement)); err != nil {
				return "", err
			}
			return strings.ReplaceAll(text, old, replacement), nil
		},
		"wrapWith": func(width int, separator, text string) (string, error) {
			if err := atOnce(len(text), len(separator)); err != nil {
				return "", err
			}
			return wrapWith(width, separator, text), nil
		},
		"until": func(count int) ([]int, error) {
			if err := atOnce(max(count, -count), number); err != nil {
				return nil, err
			}
			return until(count), nil
		},
	}
}

func splitting(sprigs template.FuncMap) template.FuncMap {
	const header = 16 // bytes of a string without its text
	split, _ := sprigs["split"].(func(string, string) map[string]string)
	splitn, _ := sprigs["splitn"].(func(string, int, string) map[string]string)
	return template.FuncMap{
		"splitList": func(separator, text string) ([]string, error) {
			if err := atOnce(strings.Count(text, separator)+1, header); err != nil {
				return nil, err
			}
			return strings.Split(text, separator), nil
		},
		"split": func(separator, text string) (map[string]string, error) {
			if err := atOnce(strings.Count(text, separator)+1, header); err != nil {
				return nil, err
			}
			return split(separator, text), nil
		},
		"splitn": func(separator string, n int, text string) (map[string]string, error) {
			if n < 0 {
				n = strings.Count(text, separator) + 1
			}
			if err := atOnce(min(n, len(text)+1), header); err != nil {
				return nil, err
			}
			return splitn(separator, n, text), nil
		},
	}
}

// joined is how long the texts of a list are together, with what is put between them. What is no
// text is printed first, and so measured.
func joined(separator string, list any) int {
	n := 0
	switch list := list.(type) {
	case []string:
		for _, text := range list {
			n += len(text) + len(separator)
		}
	case []any:
		for _, item := range list {
			text, _ := item.(string)
			n += len(text) + len(separator)
		}
	}
	return n
}
