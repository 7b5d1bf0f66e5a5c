package strict

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// dnsLabelPattern is the pattern of names in the types' tags.
const dnsLabelPattern = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`

// format describes, in words, the strings that a pattern in the types' tags allows.
type format struct {
	// what completes "want …"; example is a valid value.
	what, example string
	// rule describes how to write such a string, if what is not enough.
	rule string
	// correct returns the value that was probably meant. The result is used only if it matches the pattern.
	correct func(string) string
}

// formats are the patterns in the types' tags, except for those of URLs.
var formats = map[string]format{
	dnsLabelPattern: {
		what: "a DNS label", example: "team-a", correct: asLabel,
		rule: "lower-case letters, digits and -, with a letter or digit at both ends",
	},
	`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`: {
		what: "a DNS name", example: "registry-credentials", correct: asDNSName,
		rule: "lower-case letters, digits, - and ., with a letter or digit at both ends",
	},
	`^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`: {
		what: "an exact version, so that Git determines what runs", example: "1.2.3", correct: asVersion,
		rule: "three numbers",
	},
	`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$`: {
		what: "an exact version without a leading v", example: "1.2.3", correct: asPlainVersion,
		rule: "three numbers",
	},
	`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9a-z.-]+)?$`: {
		what: "an exact version without a leading v", example: "1.2.3", correct: asPlainVersion,
		rule: "three numbers; a suffix after - is in lower case",
	},
	`^v?[0-9]+\.[0-9x*]+(\.[0-9x*]+)?$`: {
		what: "a version of Flux", example: "2.9.4", correct: asVersion,
		rule: "exact, or with install: operator a range such as 2.9.x",
	},
	`^/`:              {what: "a JSON pointer, which begins with /", example: "/spec/replicas"},
	`^[^@ ]+@[^@ ]+$`: {what: "an e-mail address", example: "platform@example.com"},
	`^[A-Za-z_][A-Za-z0-9_]*$`: {
		what: "the name of an environment variable", example: "ADMIN_PASSWORD",
		rule: "letters, digits and _; the first character is not a digit", correct: AsVariable,
	},
	`^[-._a-zA-Z0-9]+$`: {
		what: "the name of a key in a Secret", example: "tls.crt",
		rule: "letters, digits, -, _ and .",
	},
	`^[a-z0-9.-]+/v[a-z0-9]+$`: {
		what: "an API group and its version", example: "infrastructure.cluster.x-k8s.io/v1beta2",
		rule: "GROUP/VERSION",
	},
	`^[A-Z][A-Za-z0-9]*$`: {
		what: "a kind", example: "AWSClusterControllerIdentity",
		rule: "letters and digits, beginning with a capital letter",
	},
	`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`: {
		what: "a host", example: "shop.example.com", correct: asDNSName,
		rule: "a DNS name in lower case, or *. and a DNS name",
	},
	`^(age1|ssh-ed25519 |ssh-rsa )`: {
		what: "a public key", example: "age1…",
		rule: "the output of age-keygen -y, or an SSH public key (ssh-ed25519 … or ssh-rsa …)",
	},
}

// formatOf returns the description of a pattern in the types' tags; a test ensures that it knows
// all of them.
func formatOf(pattern string) format {
	if schemes := schemesOf(pattern); schemes != nil {
		return urlFormat(schemes)
	}
	return formats[pattern]
}

// PatternWords describes the strings that a pattern of a field allows, such as "a DNS label"; "" for an unknown pattern.
func PatternWords(pattern string) string {
	if pattern == v1alpha1.DurationPattern {
		return durationWords
	}
	return formatOf(pattern).what
}

// MaxShown is the maximum length of a value, in bytes, that a hint shows completely or corrects.
const MaxShown = 300

// hint returns how to write a value that does not match a format: as it was probably
// meant, or as the first example of its field.
func (f format) hint(value string, b bounds) string {
	if f.correct != nil && len(value) <= MaxShown {
		if corrected := f.correct(value); corrected != value && b.allows(corrected) {
			return "write " + corrected
		}
	}
	example := f.example
	if len(b.examples) > 0 {
		example = b.examples[0]
	}
	if f.rule == "" {
		return "write one such as " + example
	}
	return "write " + f.rule + ", such as " + example
}

// allows reports whether a string is within bounds.
func (b bounds) allows(s string) bool {
	return len(s) >= b.minLength && (b.maxLength == 0 || len(s) <= b.maxLength) &&
		(b.pattern == nil || b.pattern.MatchString(s)) && (len(b.enum) == 0 || slices.Contains(b.enum, s))
}

var noLabel = regexp.MustCompile(`[^a-z0-9]+`)

func asLabel(s string) string {
	return strings.Trim(noLabel.ReplaceAllString(strings.ToLower(s), "-"), "-")
}

var noDNSName = regexp.MustCompile(`[^a-z0-9.]+`)

// asDNSName converts a string to a DNS name; from a URL it takes the host.
func asDNSName(s string) string {
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		s = u.Hostname()
	}
	return strings.Trim(noDNSName.ReplaceAllString(strings.ToLower(s), "-"), "-.")
}

// AsVariable removes the shell syntax around a variable's name.
func AsVariable(s string) string {
	return strings.NewReplacer("-", "_", ".", "_", " ", "_").Replace(strings.Trim(s, "${}"))
}

// asVersion removes the operators of a version range.
func asVersion(s string) string { return strings.TrimLeft(strings.TrimSpace(s), "^~=<> V") }

// asPlainVersion also removes the v and the build metadata.
func asPlainVersion(s string) string {
	plain, _, _ := strings.Cut(strings.TrimLeft(asVersion(s), "v"), "+")
	return plain
}

var schemePattern = regexp.MustCompile(`^\^\(?([a-z?|]+)\)?://$`)

// schemesOf returns the schemes that a URL pattern allows, secure ones first; nil for other
// patterns.
func schemesOf(pattern string) []string {
	m := schemePattern.FindStringSubmatch(pattern)
	if m == nil {
		return nil
	}
	var schemes []string
	for scheme := range strings.SplitSeq(m[1], "|") {
		if plain, optional := strings.CutSuffix(scheme, "s?"); optional {
			schemes = append(schemes, plain+"s", plain)
		} else {
			schemes = append(schemes, scheme)
		}
	}
	return schemes
}

func urlFormat(schemes []string) format {
	prefixes := make([]string, len(schemes))
	for i, scheme := range schemes {
		prefixes[i] = scheme + "://"
	}
	return format{
		what:    "a URL that begins with " + OneOf(prefixes),
		example: prefixes[0] + "example.com/path",
		correct: func(s string) string { return WithScheme(s, schemes) },
	}
}

// WithScheme returns the URL that was probably meant by a string without an allowed scheme: the same
// host and path, if only one scheme is possible; "" otherwise.
func WithScheme(s string, schemes []string) string {
	if clone := CloneURL(s); clone != "" {
		s = clone // git@host:path
	}
	if slices.ContainsFunc(schemes, func(scheme string) bool { return strings.HasPrefix(s, scheme+"://") }) {
		return s
	}
	if strings.HasPrefix(s, "oci://") || strings.HasPrefix(s, "file://") {
		return "" // a different kind of location
	}
	if schemes[0] == "oci" && len(schemes) > 1 {
		return "" // there are two kinds of chart repositories
	}
	if !strings.Contains(s, "://") {
		s = "//" + s
	}
	u, err := url.Parse(s)
	if err != nil || !strings.Contains(u.Host, ".") || u.Port() != "" {
		return ""
	}
	return schemes[0] + "://" + u.Host + u.Path
}
