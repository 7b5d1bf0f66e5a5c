package credential

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fleetwright/fleetwright/internal/secrets/keys"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// form is a known format of credentials.
type form struct {
	name string
	// marks are strings separated by spaces; each credential of the form contains one of them. markSet
	// contains the same marks.
	marks string
	form  func() *regexp.Regexp
	// counts reports whether a match of the form is a credential.
	counts func(text string, at []int) bool
	// lines is set if a credential may have several lines.
	lines bool
	// anywhere is set if documentation and tests contain examples of the form.
	anywhere bool
	markSet  set
}

// tokens are the formats of credentials that can't be confused with other strings, with their names. Each contains enough
// random characters that no other string matches by accident. Source: the vendors' documents on the formats of their
// tokens.
var tokens = formsOf([]form{
	{name: "a GitHub token", marks: "ghp_ gho_ ghu_ ghs_ ghr_", form: lazily(`\bgh[pousr]_[A-Za-z0-9]{36,}\b`), counts: isToken},
	{name: "a GitHub token", marks: "github_pat_", form: lazily(`\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b`), counts: isToken},
	{name: "a GitLab token", marks: "glpat-", form: lazily(`\bglpat-[A-Za-z0-9_-]{20,}\b`), counts: isToken},
	{name: "an AWS access key", marks: "AKIA", form: lazily(`\bAKIA[A-Z0-9]{16}\b`), counts: isToken, anywhere: true},
	{name: "a Slack token", marks: "xox", form: lazily(`\bxox[baprs]-[0-9]{8,}-[A-Za-z0-9-]{20,}\b`), counts: isToken},
	{name: "a Slack webhook", marks: "hooks.slack.com/", form: lazily(`hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,}`), counts: isToken},
	{name: "a Discord webhook", marks: "/api/webhooks/", form: lazily(`discord(app)?\.com/api/webhooks/[0-9]{15,}/[A-Za-z0-9_-]{50,}`), counts: isToken},
	{name: "a Google API key", marks: "AIza", form: lazily(`\bAIza[A-Za-z0-9_-]{35}\b`), counts: isToken},
	{name: "a Stripe key", marks: "k_live_", form: lazily(`\b[sr]k_live_[A-Za-z0-9]{24,}\b`), counts: isToken},
	{name: "a Telegram bot token", marks: ":AA", form: lazily(`\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b`), counts: isToken},
	{name: "a Tailscale key", marks: "tskey-", form: lazily(`\btskey-(auth|api|client)-[A-Za-z0-9]{8,}-[A-Za-z0-9]{20,}\b`), counts: isToken},
	{name: "a Doppler token", marks: "dp.st.", form: lazily(`\bdp\.st\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}\b`), counts: isToken},
	{name: "a HashiCorp Vault token", marks: "hvs.", form: lazily(`\bhvs\.[A-Za-z0-9_-]{24,}\b`), counts: isToken},
	{name: "a GitLab token", marks: "glrt- gldt- glptt- glft- glimt- glagent- glcbt- gloas- glsoat- glrtr-", form: lazily(`\bgl(rt|dt|ptt|ft|imt|agent|cbt|oas|soat|rtr)-[A-Za-z0-9_-]{20,}\b`), counts: isToken},
	{name: "a Docker Hub token", marks: "dckr_", form: lazily(`\bdckr_[po]at_[A-Za-z0-9_-]{27,}`), counts: isToken},
	{name: "an npm token", marks: "npm_", form: lazily(`\bnpm_[A-Za-z0-9]{36}\b`), counts: isToken},
	{name: "a PyPI token", marks: "pypi-", form: lazily(`\bpypi-[A-Za-z0-9_-]{80,}`), counts: isToken},
	{name: "a SendGrid key", marks: "SG.", form: lazily(`\bSG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}\b`), counts: isToken},
	{name: "an OpenAI key", marks: "sk-proj- sk-svcacct- sk-admin- T3BlbkFJ", form: lazily(`\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}|\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b`), counts: isToken},
	{name: "an Anthropic key", marks: "sk-ant-", form: lazily(`\bsk-ant-[a-z0-9]{3,10}-[A-Za-z0-9_-]{80,}`), counts: isToken},
	{name: "a Hugging Face token", marks: "hf_", form: lazily(`\bhf_[A-Za-z0-9]{34,}\b`), counts: isToken},
	{name: "a DigitalOcean token", marks: "_v1_", form: lazily(`\bdo[opr]_v1_[a-f0-9]{64}\b`), counts: isToken},
	{name: "a Grafana token", marks: "glsa_ glc_eyJ", form: lazily(`\bglsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}\b|\bglc_eyJ[A-Za-z0-9+/]{40,}`), counts: isToken},
	{name: "a Terraform Cloud token", marks: ".atlasv1.", form: lazily(`\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}`), counts: isToken},
	{name: "a Shopify token", marks: "shpat_ shpca_ shppa_ shpss_", form: lazily(`\bshp(at|ca|pa|ss)_[a-fA-F0-9]{32}\b`), counts: isToken},
	{name: "an Atlassian token", marks: "ATATT3", form: lazily(`\bATATT3[A-Za-z0-9_=-]{100,}`), counts: isToken},
	{name: "a 1Password token", marks: "ops_eyJ", form: lazily(`\bops_eyJ[A-Za-z0-9+/_-]{100,}`), counts: isToken},
	{name: "a Teams webhook", marks: "webhook.office.com/", form: lazily(`webhook\.office\.com/webhookb2/[a-f0-9-]{36}@[a-f0-9-]{36}/IncomingWebhook/[a-f0-9]{32}`), counts: isToken},
	{name: "an Azure Storage key", marks: "AccountKey=", form: lazily(`AccountKey=[A-Za-z0-9+/]{80,}={0,2}`), counts: isToken},
	{name: "a JSON Web Token", marks: ".eyJ", form: lazily(`\beyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{20,}`), counts: isToken, anywhere: true},
})

func isToken(text string, at []int) bool {
	token := text[at[0]:at[1]]
	return entropy(token) > 3 && longestRun(token) < placeholderRun && !keyboardRow().MatchString(token) && !strings.HasSuffix(token, "EXAMPLE") // the examples of AWS's documentation
}

// placeholderRun is the number of equal characters in a row that only a placeholder has, as the webhook in Slack's documentation.
const placeholderRun = 16

// longestRun returns the length of the longest run of one character.
func longestRun(text string) int {
	longest, run := 0, 0
	for i := range len(text) {
		if run++; i > 0 && text[i] != text[i-1] {
			run = 1
		}
		longest = max(longest, run)
	}
	return longest
}

// keyboardRow matches keys in the order of a keyboard, which are not randomly generated.
var keyboardRow = lazily(`(?i)qwertyuiop|asdfghjkl|abcdefghijkl`)

// formMarks contains the marks of all forms.
var formMarks = &marks{}

var (
	urlMarks = formMarks.add("://")
	pemMarks = formMarks.add(keyMarks...)
)

// formsOf returns forms with their mark sets.
func formsOf(all []form) []form {
	for i := range all {
		all[i].markSet = formMarks.add(strings.Fields(all[i].marks)...)
	}
	return all
}

// TokenIn returns the name of the credential in a string, "" if it contains none of a known form.
func TokenIn(text string) string {
	name, _ := tokenIn(text, formMarks.in(text))
	return name
}

// VendorTokenIn is [TokenIn] for prose and programs. It also returns the line of the credential, from 1; 0 without one.
// It ignores JSON Web Tokens and the IDs of keys, because documentation and tests contain examples of both.
func VendorTokenIn(text string) (name string, line int) {
	found := formMarks.in(text)
	for _, f := range tokens {
		if f.anywhere || !f.markSet.meets(found) {
			continue
		}
		if at := f.in(text, found); at >= 0 {
			return f.name, strings.Count(text[:at], "\n") + 1
		}
	}
	return "", 0
}

// IsUserPassword reports whether a string is a user name and a password in base64, as in the credentials of registries.
func IsUserPassword(text string) bool {
	password := behindUser(text)
	return !IsPlaceholder(password) && IsRandom(password)
}

// tokenIn is [TokenIn] for a string whose marks are known. It also returns the offset of the credential.
func tokenIn(text string, found set) (name string, at int) { return formIn(tokens, text, found) }

// formIn returns the name of the first form that matches a string with known marks, and the offset of the match; -1
// without a match.
func formIn(all []form, text string, found set) (name string, at int) {
	if found.isEmpty() {
		return "", -1
	}
	for _, f := range all {
		if !f.markSet.meets(found) {
			continue
		}
		if at := f.in(text, found); at >= 0 {
			return f.name, at
		}
	}
	return "", -1
}

// in returns the offset at which the form matches in a string with known marks, -1 without a match. It searches only
// lines that contain one of its marks, unless the form may have several lines.
func (f form) in(text string, found set) int {
	if f.lines {
		return f.acrossLines(text)
	}
	for i, mark := range formMarks.all {
		if !f.markSet.has(i) || !found.has(i) {
			continue
		}
		for begin := 0; begin < len(text); {
			at := strings.Index(text[begin:], mark)
			if at < 0 {
				break
			}
			first := strings.LastIndexByte(text[:begin+at], '\n') + 1
			last := endOfLine(text, begin+at)
			begin = last
			if at := f.within(text[first:last]); at >= 0 {
				return first + at
			}
		}
	}
	return -1
}

// acrossLines searches a string for a credential that may have several lines. It returns the offset of the form's mark at
// which the credential begins, or -1 without a match.
func (f form) acrossLines(text string) int {
	for begin := 0; ; {
		at := strings.Index(text[begin:], f.marks)
		if at < 0 {
			return -1
		}
		begin += at
		if f.within(text[begin:min(len(text), begin+longestEntry)]) >= 0 {
			return begin
		}
		begin += len(f.marks)
	}
}

// longestEntry is the maximum length of a credential with several lines, in bytes.
const longestEntry = 512

// within returns the offset at which the form matches in a string, -1 without a match.
func (f form) within(text string) int {
	for _, at := range f.form().FindAllStringSubmatchIndex(text, mostKeys) {
		if f.counts(text, at) {
			return at[0]
		}
	}
	return -1
}

func endOfLine(text string, at int) int {
	if end := strings.IndexByte(text[at:], '\n'); end >= 0 {
		return at + end
	}
	return len(text)
}

var (
	ageKey = lazily(`AGE-SECRET-KEY-(PQ-)?1[0-9A-Z]{50,}`)
	pemKey = lazily(`-----BEGIN ((?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?)-----(?:\s|\\n)*([\s\\A-Za-z0-9+/=:,.()-]*?)-----END`)
	// escapedKey matches the start of the body of a DER or OpenSSH key whose line breaks are escaped, as in JSON.
	escapedKey = lazily(`^(?:M[A-Za-z0-9+/]|b3BlbnNzaC1r)[A-Za-z0-9+/]{20}`)
	// puttyKey matches a PuTTY key without a password. Source: PuTTY's manual, appendix C.
	puttyKey = lazily(`(?m)^PuTTY-User-Key-File-[0-9]: [^\n]*\n\s*Encryption: none\r?$`)
	pemLine  = lazily(`[A-Za-z0-9+/=]{40,}`)
)

// PrivateKey is a private key that was found in a text.
type PrivateKey struct {
	// Kind in words, such as "an age private key".
	Kind string
	// Recipient is the public key of an age key; "" for other keys.
	Recipient string
	// Offset of the key in the text, in bytes.
	Offset int
}

// mostKeys is the maximum number of keys of a kind that are found in a text. Strings that only resemble a key do not
// count.
const mostKeys = 100

// PrivateKeysIn returns the private keys in a text that have no password, in their order. It
// ignores strings that only resemble a key, such as an explanation with dots in it.
func PrivateKeysIn(text string) []PrivateKey {
	if !pemMarks.meets(formMarks.in(text)) {
		return nil
	}
	found := encodedKeys(text)
	for _, at := range ageKey().FindAllStringIndex(text, -1) {
		if len(found) >= mostKeys {
			break
		}
		if recipient, ok := keys.RecipientOf(text[at[0]:at[1]]); ok {
			found = append(found, PrivateKey{"an age private key", recipient, at[0]})
		}
	}
	for _, at := range pemKey().FindAllStringSubmatchIndex(text, -1) {
		if len(found) >= 2*mostKeys {
			break
		}
		kind, body := text[at[2]:at[3]], text[at[4]:at[5]]
		if strings.Contains(body, `\`) && !escapedKey().MatchString(body) {
			continue
		}
		if pemLine().MatchString(body) && !strings.Contains(body, "...") && !strings.Contains(kind+body, "ENCRYPTED") {
			found = append(found, PrivateKey{"a private key (" + kind + ")", "", at[0]})
		}
	}
	for _, at := range puttyKey().FindAllStringIndex(text, mostKeys) {
		found = append(found, PrivateKey{"a private key (PuTTY)", "", at[0]})
	}
	sorting.Func(found, func(a, b PrivateKey) int { return cmp.Compare(a.Offset, b.Offset) })
	return found
}

// encodedBegin is "-----BEGIN " in base64: the start of a base64-encoded file with a key or certificate.
const encodedBegin = "LS0tLS1CRUdJTi"

// keyMarks are strings of which each private key contains one: in PEM, in the formats of age and PuTTY, and in PEM in base64.
var keyMarks = []string{"PRIVATE KEY", "AGE-SECRET-KEY-", "PuTTY-User-Key-File-", encodedBegin}

// MayHoldKey reports whether a text contains a mark of a private key.
func MayHoldKey(text []byte) bool {
	return slices.ContainsFunc(keyMarks, func(mark string) bool { return bytes.Contains(text, []byte(mark)) })
}

// encodedPEM matches a PEM file in base64, on one line.
var encodedPEM = lazily(encodedBegin + `[A-Za-z0-9+/]{80,}={0,2}`)

// encodedKeys returns the private keys in a text that are encoded in base64, as in kubeconfigs.
func encodedKeys(text string) []PrivateKey {
	if !strings.Contains(text, encodedBegin) {
		return nil
	}
	var found []PrivateKey
	for _, at := range encodedPEM().FindAllStringIndex(text, -1) {
		if len(found) >= mostKeys {
			break
		}
		plain, err := base64.StdEncoding.DecodeString(text[at[0]:at[1]])
		if err != nil || !pemKey().Match(plain) {
			continue
		}
		if keys := PrivateKeysIn(string(plain)); len(keys) > 0 {
			found = append(found, PrivateKey{keys[0].Kind + " in base64", keys[0].Recipient, at[0]})
		}
	}
	return found
}

// entries are formats in which programs store a password next to a user name, with the password in the
// first group: an entry of .netrc, a line of .pgpass, a request header, and the credentials of registries.
var entries = formsOf([]form{
	{name: "a password", marks: "machine", form: lazily(`^machine\s+[^\s]+\s+login\s+[^\s]+\s+password\s+([^\s"',]{6,})`), counts: isPassword, lines: true},
	{name: "a password", marks: ":*: :5432:", form: lazily(`(?m)^[A-Za-z0-9.*-]+:(?:[0-9]{2,5}|\*):[A-Za-z0-9_.*-]+:[A-Za-z0-9_.*-]+:([^\s:/]{8,})$`), counts: isPassword},
	{name: "a password", marks: "-u --user", form: lazily(`(?:^|\s)(?:-u|--user)[ =]?["']?[A-Za-z0-9_.@+-]+:([^\s"':]{8,})`), counts: func(text string, at []int) bool {
		return isPassword(text, at) && IsSurelyRandom(text[at[2]:at[3]])
	}},
	{name: "a password", marks: "mysql mariadb sshpass", form: lazily(`\b(?:mysql[a-z]*|mariadb[a-z-]*|sshpass)\b[^\n]{0,200}?[\s"']-p([^\s"'=/:.,$-][^\s"'=/:.,$]{7,})`), counts: func(text string, at []int) bool {
		return isPassword(text, at) && IsSurelyRandom(text[at[2]:at[3]])
	}},
	{name: "a bearer token", marks: "Bearer bearer", form: lazily(`\b[Bb]earer ([A-Za-z0-9._~+/-]{16,}=*)`), counts: isPassword},
	{name: "a user's password in base64", marks: "Basic basic", form: lazily(`\b[Bb]asic ([A-Za-z0-9+/]{12,}={0,2})`), counts: isUserPassword},
	{name: "a user's password in base64", marks: `auth" auth= auth:`, form: lazily(`(?:^|[^A-Za-z0-9])_?auth["']?\s*[:=]\s*["']?([A-Za-z0-9+/]{12,}={0,2})["']?(?:[\s,}]|$)`), counts: isUserPassword},
	{name: Hash, marks: "$2$ $2a$ $2b$ $2x$ $2y$ $5$ $6$ $7$ $y$ $gy$ $apr1$ $argon2 $scrypt$ $pbkdf2 SHA} SHA1} SHA2 SHA5", form: hashes, counts: func(string, []int) bool { return true }},
})

func isPassword(text string, at []int) bool {
	password := text[at[2]:at[3]]
	return !IsPlaceholder(password) && IsRandom(password)
}

// isUserPassword reports whether the first group is a user name and a password in base64.
func isUserPassword(text string, at []int) bool { return IsUserPassword(text[at[2]:at[3]]) }

// behindUser returns the password after a user name and a colon in base64; "" for other strings.
func behindUser(text string) string {
	plain, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !utf8.Valid(plain) {
		return ""
	}
	user, password, _ := strings.Cut(string(plain), ":")
	if user == "" || strings.ContainsFunc(user, unicode.IsControl) {
		return ""
	}
	return password
}
