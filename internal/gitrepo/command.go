package gitrepo

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// mostCommandEntries is the maximum number of values in the environment.
const mostCommandEntries = 1000

// commandEntries returns the values of git's command scope in git's order: those of GIT_CONFIG_COUNT, and
// those of "git -c", which git passes to subprocesses in GIT_CONFIG_PARAMETERS.
// Source: git's config.c, git_config_from_parameters.
func commandEntries(env func(string) string) ([]entry, error) {
	var all []entry
	if text := env("GIT_CONFIG_COUNT"); text != "" {
		count, err := strconv.Atoi(text)
		if err != nil || count < 0 || count > mostCommandEntries {
			return nil, fmt.Errorf("GIT_CONFIG_COUNT is not a number up to %d", mostCommandEntries)
		}
		for i := range count {
			n := strconv.Itoa(i)
			e, err := named(env("GIT_CONFIG_KEY_"+n), env("GIT_CONFIG_VALUE_"+n))
			if err != nil {
				return nil, fmt.Errorf("GIT_CONFIG_KEY_%s: %w", n, err)
			}
			all = append(all, e)
		}
	}
	for rest := env("GIT_CONFIG_PARAMETERS"); rest != ""; {
		var e entry
		var err error
		if e, rest, err = nextParameter(rest); err != nil {
			return nil, fmt.Errorf("GIT_CONFIG_PARAMETERS: %w", err)
		}
		all = append(all, e)
		rest = strings.TrimLeft(rest, blanks)
	}
	return all, nil
}

const blanks = " \t\n\v\f\r"

// errParameters is returned for a value of GIT_CONFIG_PARAMETERS that git would not write.
var errParameters = errors.New("has another form than git gives it")

// nextParameter parses 'key'='value', 'key'= for a key without a value, or 'key=value' as older
// releases of git write it.
func nextParameter(text string) (e entry, rest string, err error) {
	key, rest, ok := unquote(text)
	if !ok {
		return e, "", errParameters
	}
	value := "true"
	switch {
	case rest == "" || strings.ContainsAny(rest[:1], blanks):
		if name, plain, ok := strings.Cut(key, "="); ok {
			key, value = name, plain
		}
		key = strings.Trim(key, blanks)
	case rest[0] != '=':
		return e, "", errParameters
	case strings.HasPrefix(rest, "='"):
		if value, rest, ok = unquote(rest[1:]); !ok || rest != "" && !strings.ContainsAny(rest[:1], blanks) {
			return e, "", errParameters
		}
	case rest != "=" && !strings.ContainsAny(rest[1:2], blanks):
		return e, "", errParameters
	default:
		rest = rest[1:]
	}
	e, err = named(key, value)
	return e, rest, err
}

// unquote parses a single-quoted string as a shell does, in which \' and \! are outside of the quotes.
// Source: git's quote.c, sq_dequote_step.
func unquote(text string) (value, rest string, ok bool) {
	var out strings.Builder
	for {
		if text == "" || text[0] != '\'' {
			return "", "", false
		}
		inside, after, closed := strings.Cut(text[1:], "'")
		if !closed {
			return "", "", false
		}
		out.WriteString(inside)
		if !strings.HasPrefix(after, `\''`) && !strings.HasPrefix(after, `\!'`) {
			return out.String(), after, true
		}
		out.WriteByte(after[1])
		text = after[2:]
	}
}

// named returns the entry for a key such as section.sub.key.
func named(name, value string) (entry, error) {
	section, rest, ok := strings.Cut(name, ".")
	if !ok || section == "" {
		return entry{}, errors.New("a key is without a section")
	}
	sub, key := "", rest
	if i := strings.LastIndexByte(rest, '.'); i >= 0 {
		sub, key = rest[:i], rest[i+1:]
	}
	if key == "" {
		return entry{}, errors.New("a section is without a key")
	}
	return entry{strings.ToLower(section), sub, strings.ToLower(key), value}, nil
}

// entry is a value of git's configuration. Section and key are in lower case.
type entry struct{ section, sub, key, value string }

func (e entry) name() string {
	if e.sub == "" {
		return e.section + "." + e.key
	}
	return e.section + "." + e.sub + "." + e.key
}
