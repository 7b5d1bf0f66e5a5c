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

// format is what a pattern of the types' tags wants, in words.
type format struct {
	// what completes "want …"; example is one such value.
	what, example string
	// rule says how it is written, where what does not.
	rule string
	// mend guesses what was meant; the guess counts where the pattern takes it.
	mend func(string) string
}

// formats are the patterns of the types' tags, but those of URLs.
var formats = map[string]format{
	dnsLabelPattern: {
		what: "a DNS label", example: "team-a", mend: asLabel,
		rule: "lower-case letters, digits and -, with a letter or digit at both ends",
	},
	`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`: {
		what: "a DNS name", example: "registry-credentials", mend: asDNSName,
		rule: "lower-case letters, digits, - and ., with a letter or digit at both ends",
	},
	`^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`: {
		what: "an exact version, since what runs is what Git says", example: "1.2.3", mend: asVersion,
		rule: "three numbers",
	},
	`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$`: {
		what: "an exact version without a v before it", example: "1.2.3", mend: asPlainVersion,
		rule: "three numbers",
	},
	`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9a-z.-]+)?$`: {
		what: "an exact version without a v before it", example: "1.2.3", mend: asPlainVersion,
		rule: "three numbers, and what follows a - in lower case",
	},
	`^v?[0-9]+\.[0-9x*]+(\.[0-9x*]+)?$`: {
		what: "a version of Flux", example: "2.9.4", mend: asVersion,
		rule: "exact, or with install: operator a range such as 2.9.x",
	},
	`^[^@ ]+@[^@ ]+$`: {what: "an e-mail address", example: "platform@example.com"},
	`^[A-Za-z_][A-Za-z0-9_]*$`: {
		what: "the name of an environment variable", example: "ADMIN_PASSWORD",
		rule: "letters, digits and _, and no digit first", mend: AsVariable,
	},
	`^[-._a-zA-Z0-9]+$`: {
		what: "the name of a key in a Secret", example: "tls.crt",
		rule: "letters, digits, -, _ and .",
	},
	`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`: {
		what: "a host", example: "shop.example.com", mend: asDNSName,
		rule: "a DNS name in lower case, or *. and the name whose subdomain it is",
	},
	`^(age1|ssh-ed25519 |ssh-rsa )`: {
		what: "a public key", example: "age1…",
		rule: "what age-keygen -y prints, or a public key of SSH (ssh-ed25519 … or ssh-rsa …)",
	},
}

// formatOf describes a pattern of the types' tags; a test holds that it knows
// all of them.
func formatOf(pattern string) format {
	if schemes := schemesOf(pattern); schemes != nil {
		return urlFormat(schemes)
	}
	return formats[pattern]
}

// PatternWords says what a pattern of the kinds' fields wants, such as "a DNS
// label"; "" for a pattern of none of them.
func PatternWords(pattern string) string {
	if pattern == v1alpha1.DurationPattern {
		return durationWords
	}
	return formatOf(pattern).what
}

// MaxShown is the longest value, in bytes, that a hint shows whole or mends.
const MaxShown = 300

// hint says how a value that is not of a format is written: as it was probably
// meant, or as the first of the examples of its field.
func (f format) hint(value string, b bounds) string {
	if f.mend != nil && len(value) <= MaxShown {
		if meant := f.mend(value); meant != value && b.takes(meant) {
			return "write " + meant
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

// takes says whether a string is within bounds.
func (b bounds) takes(s string) bool {
	return len(s) >= b.minLength && (b.maxLength == 0 || len(s) <= b.maxLength) &&
		(b.pattern == nil || b.pattern.MatchString(s)) && (len(b.enum) == 0 || slices.Contains(b.enum, s))
}

var noLabel = regexp.MustCompile(`[^a-z0-9]+`)

func asLabel(s string) string {
	return strings.Trim(noLabel.ReplaceAllString(strings.ToLower(s), "-"), "-")
}

var noDNSName = regexp.MustCompile(`[^a-z0-9.]+`)

// asDNSName takes the host out of a URL.
func asDNSName(s string) string {
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		s = u.Hostname()
	}
	return strings.Trim(noDNSName.ReplaceAllString(strings.ToLower(s), "-"), "-.")
}

// AsVariable takes away what a shell has around a variable's name.
func AsVariable(s string) string {
	return strings.NewReplacer("-", "_", ".", "_", " ", "_").Replace(strings.Trim(s, "${}"))
}

// asVersion takes away what makes a range of a version.
func asVersion(s string) string { return strings.TrimLeft(strings.TrimSpace(s), "^~=<> V") }

// asPlainVersion takes away the v, too, and the metadata of a build.
func asPlainVersion(s string) string {
	plain, _, _ := strings.Cut(strings.TrimLeft(asVersion(s), "v"), "+")
	return plain
}

var schemePattern = regexp.MustCompile(`^\^\(?([a-z?|]+)\)?://$`)

// schemesOf are the schemes that a pattern of a URL takes, secure ones first; nil
// for other patterns.
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
		mend:    func(s string) string { return WithScheme(s, schemes) },
	}
}

// WithScheme guesses which URL was meant by what is none of the schemes: the same
// host and path, where that leaves one scheme to choose; "" for no guess.
func WithScheme(s string, schemes []string) string {
	if clone := CloneURL(s); clone != "" {
		s = clone // git@host:path
	}
	if slices.ContainsFunc(schemes, func(scheme string) bool { return strings.HasPrefix(s, scheme+"://") }) {
		return s
	}
	if strings.HasPrefix(s, "oci://") || strings.HasPrefix(s, "file://") {
		return "" // another kind of place
	}
	if schemes[0] == "oci" && len(schemes) > 1 {
		return "" // charts are in two kinds of places
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
