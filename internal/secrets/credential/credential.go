// Package credential judges whether a value is a credential: by the name that it stands under, by
// known forms and by its entropy. What rules report, what messages hide and what is to be encrypted
// is judged here.
package credential

import (
	"math"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// placeholders stand for a value that is somewhere else: words in it, and whole ones.
var (
	placeholders      = regexp.MustCompile(`(?i)change[-_ ]?me|change[-_ ]?this|replace[-_ ]?(me|this|with)|place[-_ ]?holder|\bexample|redacted|dummy|\bfoo\b|foobar|to[-_ ]?do\b|\btbd\b|fix[-_ ]?me|your[-_ ]`)
	wholePlaceholders = regexp.MustCompile(`(?i)^(x+|\*+|\.+|-+|_+|0+|none|null|nil|false|true|unused|ignored?|disabled|enabled|default|notused|not[-_ ]used|n/?a|test|dev|local|fake|mock|empty|random|secret|password|pass|admin|user|guest|root|token|key|string|replace[-_a-z]*|some[-_ ].*|my[-_ ].*|insert.*)$`)
	// placeholderStems are what each of the words begins with.
	placeholderStems = stemsOf("change", "replace", "place", "example", "redacted", "dummy", "foo", "todo", "to-do", "to_do", "to do", "tbd", "fix", "your")
)

func isPlaceholder(value string) bool {
	return wholePlaceholders.MatchString(value) || placeholderStems.in(value) && placeholders.MatchString(value)
}

// Texts that something replaces before they are used: those with a mark anywhere, and whole ones.
var (
	dollarReferences = regexp.MustCompile(`\$\{[^}]*\}|\$\([A-Za-z_][A-Za-z0-9_]*\)|^\$[A-Z_][A-Z0-9_]*$|^\$[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*([.:][A-Za-z0-9]+([-_][A-Za-z0-9]+)*)*[.:][-_A-Za-z0-9]*(?i:secret|token|key|password|id)$|\$[A-Z][A-Z_]{3}[A-Z0-9_]*\b|^\$__`)
	braceReferences  = regexp.MustCompile(`\{\{.*\}\}`)
	angleReferences  = regexp.MustCompile(`<[A-Za-z][A-Za-z _.:/-]*>`)
	calls            = regexp.MustCompile(`\b[a-z][A-Za-z_.]*\(["']?[A-Z][A-Z0-9_]*["']?\)`)
	firstReferences  = regexp.MustCompile(`^(op|vault|ref\+[a-z]+|arn|secret|akv|gcp|awssm|env|file)://?|^vault:|^secretref:|^os\.environ/|^env[.:]`)
	wholeReferences  = regexp.MustCompile(`^%[^%]+%$|^\{(env|file):[^{}]+\}$|^ENC\[(AES256_GCM,data:[A-Za-z0-9+/]+={0,2},iv:[A-Za-z0-9+/]+={0,2},tag:[A-Za-z0-9+/]+={0,2},type:[a-z]+|PKCS7,[A-Za-z0-9+/\s]{40,}={0,2}|GPG,[A-Za-z0-9+/\s]{40,}={0,2})\]$|^age1[0-9a-z]{50,}$`)
)

// longestFirst is more than firstReferences look at.
const longestFirst = 100

func isReference(value string) bool {
	return strings.Contains(value, "$") && dollarReferences.MatchString(value) ||
		strings.Contains(value, "{{") && braceReferences.MatchString(value) ||
		strings.Contains(value, ")") && calls.MatchString(value) ||
		strings.Contains(value, "<") && angleReferences.MatchString(value) ||
		firstReferences.MatchString(value[:min(len(value), longestFirst)]) ||
		slices.ContainsFunc([]string{"%", "{env:", "{file:", "ENC[", "age1"}, func(mark string) bool { return strings.HasPrefix(value, mark) }) && wholeReferences.MatchString(value)
}

// mostJudged is how much of a long value is looked at, in bytes.
const mostJudged = 4 << 10

// IsPlaceholder says whether a value is no secret, since it stands for another.
func IsPlaceholder(value string) bool {
	value = strings.TrimSpace(value[:min(len(value), mostJudged)])
	return value == "" || isReference(value) || isPlaceholder(value) && !hasRealPart(value)
}

// IsReference says whether something replaces a value before it is used.
func IsReference(value string) bool {
	return len(value) <= mostJudged && isReference(strings.TrimSpace(value))
}

// names in angle brackets, without the path or colon that a plugin's reference has.
var angleNames = regexp.MustCompile(`^<[A-Za-z][A-Za-z _.-]*>$`)

// IsFiller says whether a value under a key is a word that a person is to replace, such as "changeme" or
// <your-token>: nothing else replaces it.
func IsFiller(key, value string) bool {
	text := strings.TrimSpace(value)
	if text == "" || len(text) > mostJudged || !IsPlaceholder(text) || IsPublic(key, text) {
		return false
	}
	return angleNames.MatchString(text) || !isReference(text)
}

// fillers are words that stand around placeholders, and rows of characters that nobody drew.
var fillers = regexp.MustCompile(`(?i)change[-_ ]?me|change[-_ ]?this|replace|placeholder|example|redacted|dummy|foobar|fixme|password|passwd|secret|token|apikey|default|please|production|development|0?123456789?0?|12345|abcdef(gh?i?j?)?|deadbeef|qwerty`)

// leastPart is how long a part beside a placeholder is that counts for more than it.
const leastPart = 8

// hasRealPart says whether a value on one line that speaks of a placeholder, as changeme-… does,
// also has a part that looks drawn, or is a URL with a password. A text of lines is judged by its
// settings.
func hasRealPart(value string) bool {
	if strings.Contains(value, "\n") {
		return false
	}
	if HasPassword(value) {
		return true
	}
	parts := strings.FieldsFunc(fillers.ReplaceAllString(value, "-"), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(parts, func(part string) bool {
		return len(part) >= leastPart && strings.ContainsAny(part, "0123456789") && isRandom(part)
	})
}

// publicKeys of a Secret hold what everybody may know.
var publicKeys = map[string]bool{
	"username": true, "user": true, "login": true, "email": true, "mail": true, "url": true, "uri": true, "host": true, "hostname": true, "port": true,
	"type": true, "name": true, "namespace": true, "ca.crt": true, "tls.crt": true, "ca.pem": true, "cert.pem": true, "known_hosts": true, "knownhosts": true,
	"region": true, "bucket": true, "endpoint": true, "database": true, "dbname": true, "address": true, "server": true, "insecure": true, "project": true,
	"enableoci": true, "githubappid": true, "githubappinstallationid": true, "githubappinstallationowner": true, "githubappbaseurl": true, "identity.pub": true,
	"domain": true, "issuer": true, "client-id": true, "client_id": true, "clientid": true, "tenantid": true, "tenant_id": true, "subscriptionid": true,
	"mode": true, "scheme": true, "protocol": true, "version": true, "proxy": true, "timezone": true, "tz": true, "puid": true, "pgid": true,
}

var publicSuffixes = []string{
	"_user", "_username", "-username", "_host", "_port", "_url", "_uri", "_region", "_bucket", "_endpoint", "_name", "_email", "_domain", "_database", "_db", "_client_id", ".pub", ".crt", "_id",
	"-user", "-host", "-port", "-url", "-name", "-email", "-domain", "-id",
}

// IsPublic says whether what stands under a key of a Secret is not secret.
func IsPublic(key, value string) bool {
	lower := strings.ToLower(key)
	value = strings.TrimSpace(value)
	if len(PrivateKeysIn(value)) > 0 || HasPassword(value) || TokenIn(value) != "" {
		return false // whatever it is called: the address of a Slack webhook is a secret
	}
	for _, prefix := range []string{"-----BEGIN CERTIFICATE", "-----BEGIN PUBLIC KEY", "ssh-rsa ", "ssh-ed25519 ", "ecdsa-sha2-", "age1"} {
		if strings.HasPrefix(value, prefix) {
			return true
		}
	}
	hasSuffix := func(suffix string) bool { return strings.HasSuffix(lower, suffix) }
	return publicKeys[lower] || publicKeys[path.Base(lower)] || slices.ContainsFunc(publicSuffixes, hasSuffix) || isPlain(value) ||
		len(value) <= mostNumber && digits.MatchString(value) && !secretNames.MatchString(key)
}

// mostNumber is how many digits a setting may have that is a number.
const mostNumber = 5

var digits = regexp.MustCompile(`^[0-9]+$`)

// isPlain says whether a value can't be a secret, whatever its key: a number, a truth, an
// address, a short word.
func isPlain(value string) bool {
	if len(value) < 4 && !strings.ContainsAny(value, "0123456789") {
		return true
	}
	switch strings.ToLower(value) {
	case "true", "false", "yes", "no", "on", "off", "null", "info", "debug":
		return true
	}
	return false
}

// HasPassword says whether a URL holds a password.
func HasPassword(value string) bool {
	if len(value) > mostJudged || !strings.Contains(value, "://") || !strings.Contains(value, "@") {
		return false
	}
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return false
	}
	password, set := u.User.Password()
	return set && !IsPlaceholder(password)
}

// PasswordIn says whether a text holds a URL with a password.
func PasswordIn(text string) bool { return passwordIn(text) >= 0 }

// passwordIn is where the word with a URL with a password begins; -1 where there is none.
func passwordIn(text string) int {
	for begin := 0; ; {
		at := strings.Index(text[begin:], "://")
		if at < 0 {
			return -1
		}
		at += begin
		first := strings.LastIndexFunc(text[begin:at], unicode.IsSpace) + 1 + begin
		last := len(text)
		if end := strings.IndexFunc(text[at:], unicode.IsSpace); end >= 0 {
			last = at + end
		}
		if word := text[first:last]; HasPassword(urlIn(word, at-first)) {
			return first
		}
		begin = last
	}
}

// secretNames are the ends of the names of fields that hold secrets.
var secretNames = regexp.MustCompile(`(?i)(^|[-_. ]|[a-z0-9])(password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|encryption[-_]?key|client[-_]?secret|credentials?|auth[-_]?key|license[-_]?key|web[-_]?hook[-_]?ur[il]|account[-_]?key|signing[-_]?key|key[-_]?data)([-_]?[0-9]{1,2}|[-_](old|new|current|previous|b64|base64))?$`)

// nameStems are in each name that secretNames, passwords or shortPasswords match.
var nameStems = stemsOf("pass", "pwd", "psk", "secret", "token", "key", "credential", "url")

// webhooks are the ends of the names of fields for addresses that anybody may call who knows them.
var webhooks = regexp.MustCompile(`(?i)web[-_]?hook([-_]?ur[il])?$`)

// otherNames are those of fields that only speak of a secret.
var otherNames = regexp.MustCompile(`(?i)(existing|name|ref|path|file|mount|dir|enabled|type|store|class|url|key(name|ref)|from|env|provider|namespace|ttl|expir|length|policy|public|header|field|prefix|suffix|format|mode|rotation|create|generate|auto|image|repository|tag|annotation|label|config|checksum|hash)`)

// aboutPasswords are the names of fields that only speak of a password, or of a program called so.
var aboutPasswords = regexp.MustCompile(`(?i)((^|[^a-z0-9])(1|one)$|existing|generate|auto|create|enabled|reset|forgot|show|hide|require|allow|disable|policy|mount)`)

// MayHold says whether a text can hold a field that is named as secrets are, or a credential of a known
// form. It is quick, and says so of much that holds none.
func MayHold(text string) bool {
	return nameStems.in(text) || !formMarks.in(text).isEmpty()
}

// plurals end the names of fields that hold several secrets.
var plurals = regexp.MustCompile(`(?i)(password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|encryption[-_]?key|auth[-_]?key|signing[-_]?key|pwd|psk)s$`)

// Singular is the name of a field for one of the secrets that a field of several holds; another name stays
// as it is.
func Singular(field string) string {
	if strings.HasSuffix(field, "s") || strings.HasSuffix(field, "S") {
		if plurals.MatchString(field) {
			return field[:len(field)-1]
		}
	}
	return field
}

// Several is the name for one of the secrets whose names are the keys of a mapping under a field; "" where
// the mapping holds none, as that of references to Secrets.
func Several(field string) string {
	if one := Singular(field); one != field && !reference.MatchString(one) {
		return one
	}
	return ""
}

// LooksSecret says whether what stands under a field is most likely a secret in plaintext.
func LooksSecret(field, value string) bool {
	if len(value) > mostJudged || !nameStems.in(field) {
		return false
	}
	many := field
	if field = Singular(field); field != many && reference.MatchString(field) && (!IsDrawn(value) || !strings.ContainsAny(value, "0123456789")) {
		return false // a list of the names of Secrets
	}
	short := shortPasswords.MatchString(field)
	if !short && !secretNames.MatchString(field) {
		return false
	}
	value = strings.TrimSpace(value)
	if IsPlaceholder(value) || isPlain(value) || len(value) < 6 {
		return false
	}
	about := otherNames
	if passwords.MatchString(field) {
		about = aboutPasswords
	}
	if match := secretNames.FindStringSubmatchIndex(field); !short && about.MatchString(field[:match[4]]) {
		return false
	}
	if at := strings.Index(value, "://"); at >= 0 && !HasPassword(value) {
		return webhooks.MatchString(field) && randomPart(value[at+len("://"):])
	}
	if strings.ContainsAny(value, " \t\n") || strings.HasPrefix(value, "/") {
		return false
	}
	if speaking.MatchString(value) {
		return false
	}
	return short || passwords.MatchString(field) || len(value) >= 8 && isRandom(value) // a weak password is one, too
}

var (
	passwords = regexp.MustCompile(`(?i)(password|passwd|passphrase)([-_]?[0-9]{1,2}|[-_](old|new|current|previous|b64|base64))?$`)
	// shortPasswords are words of their own: a compass is none.
	shortPasswords = regexp.MustCompile(`(^|[-_.])(?i:pass|pwd|psk)$|[a-z](Pass|Pwd|Psk)$`)
	// speaking end the names of Secrets and of their keys.
	speaking = regexp.MustCompile(`(?i)(^|[-_.])(password|passwd|secrets?|credentials?|creds|auth|token|key|keys|pass)$`)
)

// IsRandom says whether a value looks drawn, and not made of words.
func IsRandom(value string) bool {
	value = strings.TrimSpace(value)
	return len(value) >= leastRandom && len(value) <= mostJudged && isRandom(value)
}

// IsDrawn says whether a value looks drawn, also where any name may stand: those are made of words, as
// AccessToken and clusterIssuerV1 are, and what is drawn changes between letters, capitals and digits more
// often.
func IsDrawn(value string) bool {
	value = strings.TrimSpace(value)
	if !IsRandom(value) {
		return false
	}
	const other, digit, lower, upper = 0, 1, 2, 3
	characters, words, before := 0, 0, other
	for _, r := range value {
		kind := other
		switch {
		case unicode.IsDigit(r):
			kind = digit
		case unicode.IsUpper(r):
			kind = upper
		case unicode.IsLetter(r):
			kind = lower
		}
		if kind != other {
			characters++
			if kind != before && (before != upper || kind != lower) { // a word begins with a capital
				words++
			}
		}
		before = kind
	}
	return characters < leastWord*words
}

// leastWord is how many letters the words of a name have, on average, at least.
const leastWord = 4

// isRandom says whether a text looks as if it were not made of words: names such as
// postgres-credentials are.
func isRandom(value string) bool {
	var numbers, upper, lower, other int
	for _, r := range value {
		switch {
		case unicode.IsDigit(r):
			numbers++
		case unicode.IsUpper(r):
			upper++
		case unicode.IsLower(r):
			lower++
		default:
			other++
		}
	}
	if numbers == len(value) {
		return len(value) >= 12 // else a number, a port, a date
	}
	kinds := 0
	for _, n := range []int{numbers, upper, lower} {
		if n > 0 {
			kinds++
		}
	}
	if other > 0 && kinds >= 2 && strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:") != "" {
		kinds++ // a mark that names don't have
	}
	words := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("-_./:", r) })
	if len(words) > 1 && upper == 0 {
		longest := 0
		for _, w := range words {
			longest = max(longest, len(w))
		}
		if longest < 16 {
			return false // a name, an address
		}
	}
	return kinds >= 2 && entropy(value) > 2.8
}

// entropy is Shannon's, in bits for each character.
func entropy(text string) float64 {
	counts := map[rune]float64{}
	for _, r := range text {
		counts[r]++
	}
	bits, n := 0.0, float64(len([]rune(text)))
	for _, c := range counts {
		bits -= c / n * math.Log2(c/n)
	}
	return bits
}
