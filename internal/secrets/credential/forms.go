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
)

// form is one of credentials, by which they are known.
type form struct {
	name string
	// marks are texts of which each credential of the form holds one, with spaces between them; behind
	// are the same.
	marks string
	form  *regexp.Regexp
	// counts says of the places that the form is found at whether there is a credential.
	counts func(text string, at []int) bool
	// lines says that it may go over several lines.
	lines  bool
	behind set
}

// tokens are the formats of credentials that can't be taken for anything else, and what they
// are called. Each holds enough random text that a text of that form is no accident.
// Source: the vendors' documents on the formats of their tokens.
var tokens = formsOf([]form{
	{name: "a GitHub token", marks: "ghp_ gho_ ghu_ ghs_ ghr_", form: regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{36,}\b`), counts: isToken},
	{name: "a GitHub token", marks: "github_pat_", form: regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b`), counts: isToken},
	{name: "a GitLab token", marks: "glpat-", form: regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}\b`), counts: isToken},
	{name: "an AWS access key", marks: "AKIA", form: regexp.MustCompile(`\bAKIA[A-Z0-9]{16}\b`), counts: isToken},
	{name: "a Slack token", marks: "xox", form: regexp.MustCompile(`\bxox[baprs]-[0-9]{8,}-[A-Za-z0-9-]{20,}\b`), counts: isToken},
	{name: "a Slack webhook", marks: "hooks.slack.com/", form: regexp.MustCompile(`hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,}`), counts: isToken},
	{name: "a Discord webhook", marks: "/api/webhooks/", form: regexp.MustCompile(`discord(app)?\.com/api/webhooks/[0-9]{15,}/[A-Za-z0-9_-]{50,}`), counts: isToken},
	{name: "a Google API key", marks: "AIza", form: regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}\b`), counts: isToken},
	{name: "a Stripe key", marks: "k_live_", form: regexp.MustCompile(`\b[sr]k_live_[A-Za-z0-9]{24,}\b`), counts: isToken},
	{name: "a Telegram bot's token", marks: ":AA", form: regexp.MustCompile(`\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b`), counts: isToken},
	{name: "a Tailscale key", marks: "tskey-", form: regexp.MustCompile(`\btskey-(auth|api|client)-[A-Za-z0-9]{8,}-[A-Za-z0-9]{20,}\b`), counts: isToken},
	{name: "a Doppler token", marks: "dp.st.", form: regexp.MustCompile(`\bdp\.st\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}\b`), counts: isToken},
	{name: "a HashiCorp Vault token", marks: "hvs.", form: regexp.MustCompile(`\bhvs\.[A-Za-z0-9_-]{24,}\b`), counts: isToken},
	{name: "a GitLab token", marks: "glrt- gldt- glptt- glft- glimt- glagent- glcbt- gloas- glsoat- glrtr-", form: regexp.MustCompile(`\bgl(rt|dt|ptt|ft|imt|agent|cbt|oas|soat|rtr)-[A-Za-z0-9_-]{20,}\b`), counts: isToken},
	{name: "a Docker Hub token", marks: "dckr_", form: regexp.MustCompile(`\bdckr_[po]at_[A-Za-z0-9_-]{27,}`), counts: isToken},
	{name: "an npm token", marks: "npm_", form: regexp.MustCompile(`\bnpm_[A-Za-z0-9]{36}\b`), counts: isToken},
	{name: "a PyPI token", marks: "pypi-", form: regexp.MustCompile(`\bpypi-[A-Za-z0-9_-]{80,}`), counts: isToken},
	{name: "a SendGrid key", marks: "SG.", form: regexp.MustCompile(`\bSG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}\b`), counts: isToken},
	{name: "an OpenAI key", marks: "sk-proj- sk-svcacct- sk-admin- T3BlbkFJ", form: regexp.MustCompile(`\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}|\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b`), counts: isToken},
	{name: "an Anthropic key", marks: "sk-ant-", form: regexp.MustCompile(`\bsk-ant-[a-z0-9]{3,10}-[A-Za-z0-9_-]{80,}`), counts: isToken},
	{name: "a Hugging Face token", marks: "hf_", form: regexp.MustCompile(`\bhf_[A-Za-z0-9]{34,}\b`), counts: isToken},
	{name: "a DigitalOcean token", marks: "_v1_", form: regexp.MustCompile(`\bdo[opr]_v1_[a-f0-9]{64}\b`), counts: isToken},
	{name: "a Grafana token", marks: "glsa_ glc_eyJ", form: regexp.MustCompile(`\bglsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}\b|\bglc_eyJ[A-Za-z0-9+/]{40,}`), counts: isToken},
	{name: "a Terraform Cloud token", marks: ".atlasv1.", form: regexp.MustCompile(`\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}`), counts: isToken},
	{name: "a Shopify token", marks: "shpat_ shpca_ shppa_ shpss_", form: regexp.MustCompile(`\bshp(at|ca|pa|ss)_[a-fA-F0-9]{32}\b`), counts: isToken},
	{name: "an Atlassian token", marks: "ATATT3", form: regexp.MustCompile(`\bATATT3[A-Za-z0-9_=-]{100,}`), counts: isToken},
	{name: "a 1Password token", marks: "ops_eyJ", form: regexp.MustCompile(`\bops_eyJ[A-Za-z0-9+/_-]{100,}`), counts: isToken},
	{name: "a Teams webhook", marks: "webhook.office.com/", form: regexp.MustCompile(`webhook\.office\.com/webhookb2/[a-f0-9-]{36}@[a-f0-9-]{36}/IncomingWebhook/[a-f0-9]{32}`), counts: isToken},
	{name: "a key of Azure Storage", marks: "AccountKey=", form: regexp.MustCompile(`AccountKey=[A-Za-z0-9+/]{80,}={0,2}`), counts: isToken},
	{name: "a JSON Web Token", marks: ".eyJ", form: regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{20,}`), counts: isToken},
})

func isToken(text string, at []int) bool { return entropy(text[at[0]:at[1]]) > 3 }

// formMarks are the marks of all forms.
var formMarks = &marks{}

var (
	urlMarks = formMarks.add("://")
	pemMarks = formMarks.add(keyMarks...)
)

// formsOf are forms with their marks.
func formsOf(all []form) []form {
	for i := range all {
		all[i].behind = formMarks.add(strings.Fields(all[i].marks)...)
	}
	return all
}

// TokenIn names the credential in a text, "" where it holds none of a known form.
func TokenIn(text string) string {
	name, _ := tokenIn(text, formMarks.in(text))
	return name
}

// tokenIn is [TokenIn] for a text with marks, and where the credential begins.
func tokenIn(text string, found set) (name string, at int) { return formIn(tokens, text, found) }

// formIn names the first of the forms that a text with marks holds, and where it begins; -1 for none.
func formIn(all []form, text string, found set) (name string, at int) {
	if found.isEmpty() {
		return "", -1
	}
	for _, f := range all {
		if !f.behind.meets(found) {
			continue
		}
		if at := f.in(text, found); at >= 0 {
			return f.name, at
		}
	}
	return "", -1
}

// in is where the form begins in a text with marks, -1 where nothing counts: only the lines with its
// marks are looked through, unless it goes over lines.
func (f form) in(text string, found set) int {
	if f.lines {
		return f.over(text)
	}
	for i, mark := range formMarks.all {
		if !f.behind.has(i) || !found.has(i) {
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

// over is where a form over lines begins in a text, at its mark; -1 where nothing counts.
func (f form) over(text string) int {
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

// longestEntry is how long a credential over several lines is, in bytes.
const longestEntry = 512

// within is where the form begins in a text, -1 where nothing counts.
func (f form) within(text string) int {
	for _, at := range f.form.FindAllStringSubmatchIndex(text, mostKeys) {
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
	ageKey = regexp.MustCompile(`AGE-SECRET-KEY-(PQ-)?1[0-9A-Z]{50,}`)
	pemKey = regexp.MustCompile(`-----BEGIN ((?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?)-----(?:\s|\\n)*([\s\\A-Za-z0-9+/=:,.()-]*?)-----END`)
	// escapedKey begins the body of a key in DER, or of OpenSSH's, whose lines a text in JSON escapes.
	escapedKey = regexp.MustCompile(`^(?:M[A-Za-z0-9+/]|b3BlbnNzaC1r)[A-Za-z0-9+/]{20}`)
	pemLine    = regexp.MustCompile(`[A-Za-z0-9+/=]{40,}`)
)

// PrivateKey is one that was found in a text.
type PrivateKey struct {
	// Kind in words, such as "an age private key".
	Kind string
	// Recipient is the public key of an age key, "" for another.
	Recipient string
	// Offset of the key in the text, in bytes.
	Offset int
}

// mostKeys is how many keys of a kind are found in a text. What only looks like one doesn't count.
const mostKeys = 100

// PrivateKeysIn finds the private keys in a text that are in plaintext, none with a password, in
// their order. What only looks like one, such as an explanation with dots in it, is none either.
func PrivateKeysIn(text string) []PrivateKey {
	if !pemMarks.meets(formMarks.in(text)) {
		return nil
	}
	found := encodedKeys(text)
	for _, at := range ageKey.FindAllStringIndex(text, -1) {
		if len(found) >= mostKeys {
			break
		}
		if recipient, ok := keys.RecipientOf(text[at[0]:at[1]]); ok {
			found = append(found, PrivateKey{"an age private key", recipient, at[0]})
		}
	}
	for _, at := range pemKey.FindAllStringSubmatchIndex(text, -1) {
		if len(found) >= 2*mostKeys {
			break
		}
		kind, body := text[at[2]:at[3]], text[at[4]:at[5]]
		if strings.Contains(body, `\`) && !escapedKey.MatchString(body) {
			continue
		}
		if pemLine.MatchString(body) && !strings.Contains(body, "...") && !strings.Contains(kind+body, "ENCRYPTED") {
			found = append(found, PrivateKey{"a private key (" + kind + ")", "", at[0]})
		}
	}
	slices.SortFunc(found, func(a, b PrivateKey) int { return cmp.Compare(a.Offset, b.Offset) })
	return found
}

// encodedBegin is "-----BEGIN " in base64, with which files of keys and of certificates begin there.
const encodedBegin = "LS0tLS1CRUdJTi"

// keyMarks are in each text with a private key: in PEM, in that of age, and in PEM in base64.
var keyMarks = []string{"PRIVATE KEY", "AGE-SECRET-KEY-", encodedBegin}

// MayHoldKey says whether a text holds a mark of a private key.
func MayHoldKey(text []byte) bool {
	return slices.ContainsFunc(keyMarks, func(mark string) bool { return bytes.Contains(text, []byte(mark)) })
}

// encodedPEM is a file in PEM in base64, on one line.
var encodedPEM = regexp.MustCompile(encodedBegin + `[A-Za-z0-9+/]{80,}={0,2}`)

// encodedKeys are the private keys in a text that are in base64, as kubeconfigs hold them.
func encodedKeys(text string) []PrivateKey {
	if !strings.Contains(text, encodedBegin) {
		return nil
	}
	var found []PrivateKey
	for _, at := range encodedPEM.FindAllStringIndex(text, -1) {
		if len(found) >= mostKeys {
			break
		}
		plain, err := base64.StdEncoding.DecodeString(text[at[0]:at[1]])
		if err != nil || !pemKey.Match(plain) {
			continue
		}
		if keys := PrivateKeysIn(string(plain)); len(keys) > 0 {
			found = append(found, PrivateKey{keys[0].Kind + " in base64", keys[0].Recipient, at[0]})
		}
	}
	return found
}

// entries are forms in which programs keep a password beside a user's name, with the password in the
// first group: an entry of .netrc, a line of .pgpass, the header of a request, and what registries take.
var entries = formsOf([]form{
	{name: "a password", marks: "machine", form: regexp.MustCompile(`^machine\s+[^\s]+\s+login\s+[^\s]+\s+password\s+([^\s"',]{6,})`), counts: isPassword, lines: true},
	{name: "a password", marks: ":*: :5432:", form: regexp.MustCompile(`(?m)^[A-Za-z0-9.*-]+:(?:[0-9]{2,5}|\*):[A-Za-z0-9_.*-]+:[A-Za-z0-9_.*-]+:([^\s:/]{8,})$`), counts: isPassword},
	{name: "a password", marks: "-u --user", form: regexp.MustCompile(`(?:^|\s)(?:-u|--user)[ =]?["']?[A-Za-z0-9_.@+-]+:([^\s"':]{8,})`), counts: func(text string, at []int) bool {
		return isPassword(text, at) && IsDrawn(text[at[2]:at[3]])
	}},
	{name: "a password", marks: "mysql mariadb sshpass", form: regexp.MustCompile(`\b(?:mysql[a-z]*|mariadb[a-z-]*|sshpass)\b[^\n]{0,200}?[\s"']-p([^\s"'=/:.,$-][^\s"'=/:.,$]{7,})`), counts: func(text string, at []int) bool {
		return isPassword(text, at) && IsDrawn(text[at[2]:at[3]])
	}},
	{name: "a bearer token", marks: "Bearer bearer", form: regexp.MustCompile(`\b[Bb]earer ([A-Za-z0-9._~+/-]{16,}=*)`), counts: isPassword},
	{name: "a user's password in base64", marks: "Basic basic", form: regexp.MustCompile(`(?i:authorization)["']?[:=]\s*["']?[Bb]asic ([A-Za-z0-9+/]{12,}={0,2})`), counts: isUserPassword},
	{name: "a user's password in base64", marks: `auth" auth= auth:`, form: regexp.MustCompile(`(?:^|[^A-Za-z0-9])_?auth["']?\s*[:=]\s*["']?([A-Za-z0-9+/]{12,}={0,2})["']?(?:[\s,}]|$)`), counts: isUserPassword},
	{name: Hash, marks: "$2$ $2a$ $2b$ $2x$ $2y$ $5$ $6$ $7$ $y$ $gy$ $apr1$ $argon2 $scrypt$ $pbkdf2 SHA} SHA1} SHA2 SHA5", form: hashes, counts: func(string, []int) bool { return true }},
})

func isPassword(text string, at []int) bool {
	password := text[at[2]:at[3]]
	return !IsPlaceholder(password) && IsRandom(password)
}

// isUserPassword says whether a user's name and a password stand in base64 in the first group.
func isUserPassword(text string, at []int) bool {
	password := behindUser(text[at[2]:at[3]])
	return !IsPlaceholder(password) && IsRandom(password)
}

// behindUser is the password behind a user's name and a colon in base64; "" for another text.
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
