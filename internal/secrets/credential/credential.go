// Package credential judges whether a value is a credential: by the name of its field, by
// known formats and by its entropy. It decides which values rules report, messages hide and SOPS should
// encrypt.
package credential

import (
	"math"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// lazily returns a regular expression that is compiled when it is first used: compiling all of them takes a tenth of
// the time that a command needs to start.
func lazily(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Patterns of placeholders for values that are stored elsewhere: words in a value, and whole values.
var (
	placeholders      = lazily(`(?i)change[-_ ]?me|change[-_ ]?this|\bchange[-_. ]to\b|replace[-_ ]?(me|this|with)|place[-_ ]?holder|\bexample|redacted|dummy|\bfoo\b|foobar|to[-_ ]?do\b|\btbd\b|fix[-_ ]?me|your[-_ ]`)
	wholePlaceholders = lazily(`(?i)^(x+|\*+|\.+|\W*…\W*|-+|_+|0+|none|null|nil|false|true|unused|ignored?|disabled|enabled|default|notused|not[-_ ]used|n/?a|test|dev|local|fake|mock|empty|random|secret|password|pass|admin|user|guest|root|token|key|string|replace[-_a-z]*|some[-_ ].*|my[-_ ].*|insert.*)$`)
	// placeholderStems are the beginnings of these words.
	placeholderStems = stemsOf("change", "replace", "place", "example", "redacted", "dummy", "foo", "todo", "to-do", "to_do", "to do", "tbd", "fix", "your")
)

func isPlaceholder(value string) bool {
	return wholePlaceholders().MatchString(value) || placeholderStems.in(value) && placeholders().MatchString(value)
}

// Patterns of strings that are replaced before they are used: parts of a value, and whole values.
var (
	dollarReferences = lazily(`\$\{[^}]*\}|\$\([A-Za-z_][A-Za-z0-9_]*\)|^\$\((?:cat|op|pass|vault|aws|gcloud|az|sops|kubectl|openssl|pwgen) [^()]*\)$|^\$[A-Z_][A-Z0-9_]*$|^\$[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*([.:][A-Za-z0-9]+([-_][A-Za-z0-9]+)*)*[.:][-_A-Za-z0-9]*(?i:secret|token|key|password|id)$|\$[A-Z][A-Z_]{3}[A-Z0-9_]*\b|^\$__`)
	braceReferences  = lazily(`\{\{.*\}\}`)
	angleReferences  = lazily(`<[A-Za-z][A-Za-z _.:/-]*>|^<[A-Z]+[0-9]{0,2}(?:_[A-Z0-9]{1,12})*>$`)
	calls            = lazily(`\b[a-z][A-Za-z_.]*\(["']?[A-Z][A-Z0-9_]*["']?\)`)
	firstReferences  = lazily(`^(op|vault|ref\+[a-z]+|arn|secret|akv|gcp|awssm|env|file)://?|^vault:|^secretref:|^urn:[a-z0-9-]+:|^os\.environ/|^env[.:]`)
	wholeReferences  = lazily(`^%[^%]+%$|^\{(env|file):[^{}]+\}$|^ENC\[(AES256_GCM,data:[A-Za-z0-9+/]+={0,2},iv:[A-Za-z0-9+/]+={0,2},tag:[A-Za-z0-9+/]+={0,2},type:[a-z]+|PKCS7,[A-Za-z0-9+/\s]{40,}={0,2}|GPG,[A-Za-z0-9+/\s]{40,}={0,2})\]$|^age1[0-9a-z]{50,}$|^Ag[A-D][A-Za-z0-9+/]{600,}={0,2}$`) // the last form is a SealedSecret: the length of a session key, 512, and the key
)

// longestFirst is more than the maximum length that firstReferences reads.
const longestFirst = 100

func isReference(value string) bool {
	return strings.Contains(value, "$") && dollarReferences().MatchString(value) ||
		strings.Contains(value, "{{") && braceReferences().MatchString(value) ||
		strings.Contains(value, ")") && calls().MatchString(value) ||
		strings.Contains(value, "<") && angleReferences().MatchString(value) ||
		firstReferences().MatchString(value[:min(len(value), longestFirst)]) ||
		slices.ContainsFunc([]string{"%", "{env:", "{file:", "ENC[", "age1", "Ag"}, func(mark string) bool { return strings.HasPrefix(value, mark) }) && wholeReferences().MatchString(value)
}

// mostJudged is the maximum number of bytes of a long value that are judged.
const mostJudged = 4 << 10

// IsPlaceholder reports whether a value is not a secret because it is a placeholder for one.
func IsPlaceholder(value string) bool {
	value = strings.TrimSpace(value[:min(len(value), mostJudged)])
	return value == "" || isReference(value) || isPlaceholder(value) && !hasRealPart(value)
}

// IsReference reports whether a value is replaced before it is used.
func IsReference(value string) bool {
	return len(value) <= mostJudged && isReference(strings.TrimSpace(value))
}

// angleNames matches a name in angle brackets. It excludes a path or colon, which a plugin's reference has.
var angleNames = lazily(`^<[A-Za-z][A-Za-z _.-]*>$`)

// IsFiller reports whether the value of a key is a word that a person has to replace, such as "changeme" or
// <your-token>: nothing else replaces it.
func IsFiller(key, value string) bool {
	text := strings.TrimSpace(value)
	if text == "" || len(text) > mostJudged || !IsPlaceholder(text) || IsPublic(key, text) {
		return false
	}
	return angleNames().MatchString(text) || !isReference(text)
}

// fillers matches words that are typical of placeholders, and simple sequences of characters.
var fillers = lazily(`(?i)change[-_ ]?me|change[-_ ]?this|replace|placeholder|example|redacted|dummy|foobar|fixme|password|passwd|secret|token|apikey|default|please|production|development|0?123456789?0?|12345|abcdef(gh?i?j?)?|deadbeef|qwerty`)

// leastPart is the minimum length of a part next to a placeholder that may be a secret.
const leastPart = 8

// hasRealPart reports whether a value on one line that contains a placeholder, such as changeme-…,
// also has a part that looks randomly generated, or is a URL with a password. It returns false for several lines, whose
// settings are judged one by one.
func hasRealPart(value string) bool {
	if strings.Contains(value, "\n") {
		return false
	}
	if HasPassword(value) {
		return true
	}
	parts := strings.FieldsFunc(fillers().ReplaceAllString(value, "-"), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(parts, func(part string) bool {
		return len(part) >= leastPart && strings.ContainsAny(part, "0123456789") && isRandom(part)
	})
}

// publicKeys are the keys of a Secret whose values are public.
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

// IsPublic reports whether the value at a key of a Secret is not secret.
func IsPublic(key, value string) bool {
	lower := strings.ToLower(key)
	value = strings.TrimSpace(value)
	if len(PrivateKeysIn(value)) > 0 || HasPassword(value) || TokenIn(value) != "" {
		return false // even for a public key: the address of a Slack webhook is a secret
	}
	for _, prefix := range []string{"-----BEGIN CERTIFICATE", "-----BEGIN PUBLIC KEY", "ssh-rsa ", "ssh-ed25519 ", "ecdsa-sha2-", "age1"} {
		if strings.HasPrefix(value, prefix) {
			return true
		}
	}
	hasSuffix := func(suffix string) bool { return strings.HasSuffix(lower, suffix) }
	return publicKeys[lower] || publicKeys[path.Base(lower)] || slices.ContainsFunc(publicSuffixes, hasSuffix) || isPlain(value) ||
		len(value) <= mostNumber && digits().MatchString(value) && !secretNames().MatchString(key)
}

// mostNumber is the maximum number of digits of a value that counts as a plain number.
const mostNumber = 5

var digits = lazily(`^[0-9]+$`)

// isPlain reports whether a value can't be a secret, whatever its key: a number, a boolean, an
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

// HasPassword reports whether a URL contains a password.
func HasPassword(value string) bool {
	if len(value) > mostJudged || !strings.Contains(value, "://") || !strings.Contains(value, "@") {
		return false
	}
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return false
	}
	password, set := u.User.Password()
	return set && !IsPlaceholder(password) && !filled().MatchString(password) && !shellVariable().MatchString(password)
}

// namesField reports whether a value is the name of another field, such as maxmindLicenseKey for licenseKey, or of a key of
// a Secret, such as installID for installationIdSecretKey.
func namesField(field, value string) bool {
	lower, name := strings.ToLower(value), strings.ToLower(field)
	before, ends := strings.CutSuffix(lower, name)
	if ends && strings.ContainsAny(before, "_-") && strings.ContainsAny(name, "_-") && inSmallLetters().MatchString(value) {
		return true // such as tencent_zot_htpasswd for ZOT_HTPASSWD
	}
	if passwords().MatchString(field) {
		return false
	}
	if strings.HasPrefix(value, "base64") && ends && inSmallLetters().MatchString(value[len("base64"):]) {
		return true // such as base64encodedaccountkey for accountkey
	}
	if strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return false
	}
	const begin = 5 // of a name
	return ends && before != "" || strings.HasSuffix(field, "Key") && !IsSurelyRandom(value) &&
		(strings.HasSuffix(value, "Key") || len(lower) >= begin && strings.HasPrefix(name, lower[:begin]))
}

// inSmallLetters matches words in small letters.
var inSmallLetters = lazily(`^[a-z_-]+$`)

// shellVariable is a variable of a shell, as a whole.
var shellVariable = lazily(`^\$[A-Za-z_][A-Za-z0-9_]*$`)

// filled matches words in capitals, which a program replaces.
var filled = lazily(`^[A-Z]+(_[A-Z]+)+$`)

// PasswordIn reports whether a string contains a URL with a password.
func PasswordIn(text string) bool { return passwordIn(text) >= 0 }

// passwordIn returns the offset of the word that contains a URL with a password; -1 if no word does.
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

// secretNames matches the ends of the names of fields that contain secrets.
var secretNames = lazily(`(?i)(^|[-_. ]|[a-z0-9])(password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|encryption[-_]?key|client[-_]?secret|credentials?|auth[-_]?key|license[-_]?key|web[-_]?hook[-_]?ur[il]|account[-_]?key|signing[-_]?key|key[-_]?data)([-_]?[0-9]{1,2}|[-_](old|new|current|previous|b64|base64))?$`)

// nameStems are parts of each name that secretNames, passwords or shortPasswords match.
var nameStems = stemsOf("pass", "pwd", "psk", "secret", "token", "key", "credential", "url")

// webhooks matches the ends of the names of fields for webhook addresses, which are secret because anyone who knows one can
// call it.
var webhooks = lazily(`(?i)web[-_]?hook([-_]?ur[il])?$`)

// otherNames matches names of fields that are about a secret but do not contain one.
var otherNames = lazily(`(?i)(existing|name|ref|path|file|mount|dir|enabled|type|store|class|url|key(name|ref)|from|env|provider|namespace|ttl|expir|length|policy|public|header|field|prefix|suffix|format|mode|rotation|create|generate|auto|image|repository|tag|annotation|label|config|checksum|hash)`)

// aboutPasswords matches names of fields that are about a password, or about a program with such a name.
var aboutPasswords = lazily(`(?i)((^|[^a-z0-9])(1|one)$|existing|generate|auto|create|enabled|reset|forgot|show|hide|require|allow|disable|policy|mount)`)

// MayHold reports whether a string may contain a field with the name of a secret, or a credential of a known
// format. It is fast, and often returns true for strings without secrets.
func MayHold(text string) bool {
	return nameStems.in(text) || !formMarks.in(text).isEmpty()
}

// plurals matches the names of fields that contain several secrets.
var plurals = lazily(`(?i)(password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|encryption[-_]?key|auth[-_]?key|signing[-_]?key|pwd|psk)s$`)

// Singular returns the name of one secret for the name of a field with several; it returns other names
// unchanged.
func Singular(field string) string {
	if strings.HasSuffix(field, "s") || strings.HasSuffix(field, "S") {
		if plurals().MatchString(field) {
			return field[:len(field)-1]
		}
	}
	return field
}

// Several returns the name of one secret if the values of a mapping in a field are secrets; "" if
// they are not, such as references to Secrets.
func Several(field string) string {
	if one := Singular(field); one != field && !reference().MatchString(one) {
		return one
	}
	return ""
}

// LooksSecret reports whether the value of a field is most likely a secret in plaintext.
func LooksSecret(field, value string) bool {
	if len(value) > mostJudged || !nameStems.in(field) {
		return false
	}
	many := field
	if field = Singular(field); field != many && reference().MatchString(field) && (!IsSurelyRandom(value) || !strings.ContainsAny(value, "0123456789")) {
		return false // the value is a list of names of Secrets
	}
	short := shortPasswords().MatchString(field)
	if !short && !secretNames().MatchString(field) {
		return false
	}
	value = strings.TrimSpace(value)
	if IsPlaceholder(value) || isPlain(value) || len(value) < 6 {
		return false
	}
	about := otherNames
	if passwords().MatchString(field) {
		about = aboutPasswords
	}
	if match := secretNames().FindStringSubmatchIndex(field); !short && about().MatchString(field[:match[4]]) {
		return false
	}
	if at := strings.Index(value, "://"); at >= 0 && !HasPassword(value) {
		return webhooks().MatchString(field) && randomPart(value[at+len("://"):])
	}
	if strings.ContainsAny(value, " \t\n") || strings.HasPrefix(value, "/") || strings.Contains(value, "@sha256:") || namesField(field, value) {
		return false
	}
	isName := constants().MatchString(value) || typeNames().MatchString(value)
	if speaking().MatchString(value) || isName && !short && !passwords().MatchString(field) || fingerprint().MatchString(value) && signingKeys().MatchString(field) {
		return false
	}
	return short || passwords().MatchString(field) || len(value) >= 8 && isRandom(value) // a weak password is a secret, too
}

var (
	passwords = lazily(`(?i)(password|passwd|passphrase)([-_]?[0-9]{1,2}|[-_](old|new|current|previous|b64|base64))?$`)
	// shortPasswords matches whole words, so that compass does not match.
	shortPasswords = lazily(`(^|[-_.])(?i:pass|pwd|psk)$|[a-z](Pass|Pwd|Psk)$`)
	// constants matches names of variables, such as the secretKey of an ExternalSecret.
	constants = lazily(`^[A-Z]+[0-9]?(?:_(?:[A-Z]+[0-9]?|[0-9]))+$`)
	// typeNames matches names such as ServiceAccountToken.
	typeNames = lazily(`^[A-Z][a-z]{2,}([A-Z][a-z]{2,})*(Token|Secret|Key|Credentials?)$`)
	// fingerprint matches the fingerprint of an OpenPGP key, as gpg prints it.
	fingerprint = lazily(`^[0-9A-F]{16}$|^[0-9A-F]{40}$`)
	signingKeys = lazily(`(?i)(gpg|pgp|git|commit).*signing[-_]?key$`)
	// speaking matches the ends of the names of Secrets and of their keys.
	speaking = lazily(`(?i)(^|[-_.])(password|passwd|secrets?|credentials?|creds|auth|token|key|keys|pass)$`)
)

// IsRandom reports whether a value looks randomly generated, and not made of words.
func IsRandom(value string) bool {
	value = strings.TrimSpace(value)
	return len(value) >= leastRandom && len(value) <= mostJudged && isRandom(value)
}

// IsSurelyRandom reports whether a value looks randomly generated even in a field that may contain any name. Names such
// as AccessToken and clusterIssuerV1 consist of words; a random value changes between letters, capitals and digits more
// often.
func IsSurelyRandom(value string) bool {
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

// leastWord is the minimum average length of the words of a name.
const leastWord = 4

// isRandom reports whether a string looks random, unlike names that consist of words, such as postgres-credentials.
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
		return len(value) >= 12 // a shorter one may be a number, a port or a date
	}
	kinds := 0
	for _, n := range []int{numbers, upper, lower} {
		if n > 0 {
			kinds++
		}
	}
	if other > 0 && kinds >= 2 && strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:") != "" {
		kinds++ // a character that names don't contain
	}
	words := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("-_./:", r) })
	if len(words) > 1 && upper == 0 {
		longest := 0
		for _, w := range words {
			longest = max(longest, len(w))
		}
		if longest < 16 {
			return false // a name or an address
		}
	}
	return kinds >= 2 && entropy(value) > 2.8
}

// entropy returns the Shannon entropy in bits per character.
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
