package credential

import (
	"strings"
	"unicode/utf8"
)

// Grade is the probability that a value of a Secret is a credential.
type Grade int

// The grades.
const (
	// Public is a placeholder, or a value that is not secret.
	Public Grade = iota
	// Plain is a value that does not look like a credential by its key, form or entropy.
	Plain
	// Likely is a value that most likely is a credential.
	Likely
)

// Judge grades the value at a key of a Secret by the key, by known forms and by entropy. Values in a
// Secret are more likely credentials than settings, which [LooksSecret] judges.
func Judge(key, value string) Grade {
	text := strings.TrimSpace(value)
	lines := strings.Contains(text, "\n")
	switch {
	case known(text) || lines && SettingIn(text) != "":
		return Likely
	case IsPlaceholder(text) || IsPublic(key, text) || emptyObject().MatchString(text):
		return Public
	case len(text) > mostJudged || !utf8.ValidString(text):
		return binary(key, text)
	case strongName(key):
		return Likely
	case secretNames().MatchString(key) || wideNames().MatchString(key):
		if IsEvident(text) || !secretNames().MatchString(key) && words().MatchString(text) {
			return Plain
		}
		return Likely
	case IsEvident(text):
		return Plain
	}
	if !lines && assignsSecret(text) {
		return Likely
	}
	for _, word := range strings.Fields(text) {
		if len(word) >= leastRandom && !IsEvident(word) && isRandom(word) && (!lines || len(word) >= leastInLines) {
			return Likely
		}
	}
	return Plain
}

// Minimum lengths of a string that looks random to be a credential: a text with several lines, such as a program, contains
// many such strings.
const (
	leastRandom  = 8
	leastInLines = 32
)

// known reports whether a string contains a credential of a known form.
func known(text string) bool {
	found := formMarks.in(text)
	if found.isEmpty() {
		return false
	}
	_, token := formIn(tokens, text, found)
	_, entry := formIn(entries, text, found)
	return token >= 0 || entry >= 0 || pemMarks.meets(found) && len(PrivateKeysIn(text)) > 0 || urlMarks.meets(found) && PasswordIn(text)
}

// hashes matches hashes of passwords, which an attacker can guess offline.
// Source: crypt(5), and htpasswd of the Apache HTTP server.
var hashes = lazily(`\$(2[abxy]?|5|6|7|y|gy|apr1|argon2(i|d|id)|scrypt|pbkdf2[-a-z0-9]*)\$[A-Za-z0-9./$=,+]{20,}|\{S?SHA[0-9]*\}[A-Za-z0-9+/]{20,}`)

// binary grades a value that is too large to be searched, or not text. Files with keys usually have a typical name.
func binary(key, text string) Grade {
	if strongName(key) || secretNames().MatchString(key) || wideNames().MatchString(key) || keyFiles().MatchString(key) || len(text) >= 16 && len(text) <= 64 && !utf8.ValidString(text) {
		return Likely
	}
	return Plain
}

// emptyObject matches JSON without a value, such as the {"auths": {}} of a registry that needs no password.
var emptyObject = lazily(`^\{\s*(?:"[^"]*"\s*:\s*(?:\{\s*\}|\[\s*\]|""|null)\s*,?\s*)*\}$`)

// keyFiles matches the ends of the names of files that contain keys.
var keyFiles = lazily(`(?i)\.(key|jks|p12|pfx|keytab|keystore|kdbx|ppk|pgp|gpg)$`)

// wideNames matches the names of values that are likely credentials in a Secret, but often not elsewhere.
var wideNames = lazily(`(?i)(^|[-_.]|[a-z0-9])(key|keys|auth|creds?|salt|seed|cookie|hmac|sas|otp|mfa|private|identity|bearer|signature|dsn|htpasswd|authorized|dockerconfigjson|dockercfg|kubeconfig|connection[-_]?string)(\.(ya?ml|json|txt))?$`)

// strongName reports whether a key is the name of a password, which may be any word.
func strongName(key string) bool {
	return passwords().MatchString(key) || shortPasswords().MatchString(key)
}

// words matches names and words.
var words = lazily(`^[A-Za-z]+([-_. /][A-Za-z]+)*$`)

// forms matches values that are not credentials, whatever their entropy.
var forms = lazily(`(?i)^(?:` + strings.Join([]string{
	`[-+]?[0-9]{1,11}(?:\.[0-9]+)?%?`,                             // a number
	`[-+]?(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|ms|s|m|h|d|w|y))+`,    // a duration
	`[0-9]+(?:\.[0-9]+)?\s?(?:[kmgtpe]i?b?|b)`,                    // a size
	`(?:[a-z]+://)?\[?[0-9a-f:]*:[0-9a-f:.]*\]?(?:[:/][0-9]+)?`,   // an IPv6 address
	`(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?::[0-9]{1,5}|/[0-9]{1,2})?`,   // an IPv4 address or network
	`[a-z0-9_.*-]*:[0-9]{1,5}`,                                    // a port, with or without a host
	`(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,30})\.)+[a-z]{2,18}\.?`, // a host
	`v?[0-9]+(?:\.[0-9]+){1,3}(?:[-+][a-z0-9.]{1,20})?`,           // a version
	`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`,                 // a UUID
	`(?:[0-9]{1,8}-)*[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-(?:0*[0-9a-f]{1,4}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))*`, // a Ceph volume
	`[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[t ][0-9:.]+(?:z|[-+][0-9:]+)?)?`,                                                                    // a time
	`[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,18}`,                                                                                          // an email address
	`[a-z]{2,3}[-_][a-z]{2}(?:\.utf-?8)?`,                                                                                              // a language
	`[a-z_]+/[a-z_]+(?:/[a-z_]+)?`,                                                                                                     // a time zone or media type
	`arn:[a-z-]+:[a-z0-9-]*:[a-z0-9-]*:[0-9]*:[a-z0-9:/_*.-]+`,                                                                         // an AWS resource
	`[a-z]{2}-[a-z]+-[0-9][a-z]?`,                                                                                                      // a region
	`localhost`,
}, "|") + `)$`)

// image matches the name of a container image: with a registry or a folder, and a tag or a digest.
var image = lazily(`^(?:[a-z0-9.-]+(?::[0-9]+)?/)?(?:[a-z0-9]+(?:[._-]+[a-z0-9]+)*/)*[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,60})?(?:@sha256:[0-9a-f]{64})?$`)

// file matches the path of a file.
var file = lazily(`^(?:\.{0,2}/|~/)?(?:[A-Za-z0-9_.@+-]{1,40}/)*[A-Za-z0-9_.@+-]{0,40}$`)

// IsEvident reports whether a value is evidently not a credential, by its form: a number, a duration, a
// size, an address, a host, a port, a network, an image, a version, a path, a URL without a password,
// or several of them.
func IsEvident(value string) bool {
	value = strings.TrimSpace(value)
	if len(value) > mostJudged || known(value) {
		return false
	}
	if isPlain(value) {
		return true
	}
	parts := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(",; \t\n", r) })
	for _, part := range parts {
		if !isForm(part) {
			return false
		}
	}
	return len(parts) > 0
}

func isForm(value string) bool {
	if forms().MatchString(value) {
		return true
	}
	if at := strings.Index(value, "://"); at >= 0 {
		return !assignsSecret(value) && !randomPart(value[at+len("://"):])
	}
	separated := strings.ContainsAny(value, "/:@")
	if separated && (image().MatchString(value) || file().MatchString(value)) {
		return !randomPart(value)
	}
	return false
}

// randomPart reports whether a path, or a URL without its scheme, has a part that looks randomly generated, as webhook
// addresses have.
func randomPart(path string) bool {
	path, _, _ = strings.Cut(path, "@sha256:")
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("/?&=:", r) }) {
		if len(part) >= leastPart*2 && isRandom(part) && !forms().MatchString(part) {
			return true
		}
	}
	return false
}

// assignsSecret reports whether a string assigns a value that is most likely a secret, as in flags, settings
// and the queries of URLs.
func assignsSecret(text string) bool {
	for _, at := range assignments(text) {
		if LooksSecret(strings.TrimLeft(text[at[2]:at[3]], "-"), text[at[4]:at[5]]) {
			return true
		}
	}
	return false
}
