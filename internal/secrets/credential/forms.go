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

// tokens are the formats of credentials that can't be taken for anything else, and what they
// are called. Each holds enough random text that a text of that form is no accident.
// Source: the vendors' documents on the formats of their tokens.
var tokens = []struct {
	name   string
	prefix string // that the text holds, so that most texts are done with soon
	form   *regexp.Regexp
}{
	{"a GitHub token", "gh", regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{36,}\b`)},
	{"a GitHub token", "github_pat_", regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b`)},
	{"a GitLab token", "glpat-", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}\b`)},
	{"an AWS access key", "AKIA", regexp.MustCompile(`\bAKIA[A-Z0-9]{16}\b`)},
	{"a Slack token", "xox", regexp.MustCompile(`\bxox[baprs]-[0-9]{8,}-[A-Za-z0-9-]{20,}\b`)},
	{"a Slack webhook", "hooks.slack.com/", regexp.MustCompile(`hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{20,}`)},
	{"a Discord webhook", "/api/webhooks/", regexp.MustCompile(`discord(app)?\.com/api/webhooks/[0-9]{15,}/[A-Za-z0-9_-]{50,}`)},
	{"a Google API key", "AIza", regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}\b`)},
	{"a Stripe key", "k_live_", regexp.MustCompile(`\b[sr]k_live_[A-Za-z0-9]{24,}\b`)},
	{"a Telegram bot's token", ":AA", regexp.MustCompile(`\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b`)},
	{"a Tailscale key", "tskey-", regexp.MustCompile(`\btskey-(auth|api|client)-[A-Za-z0-9]{8,}-[A-Za-z0-9]{20,}\b`)},
	{"a Doppler token", "dp.st.", regexp.MustCompile(`\bdp\.st\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}\b`)},
	{"a HashiCorp Vault token", "hvs.", regexp.MustCompile(`\bhvs\.[A-Za-z0-9_-]{24,}\b`)},
	{"a GitLab token", "gl", regexp.MustCompile(`\bgl(rt|dt|ptt|ft|imt|agent|cbt|oas|soat|rtr)-[A-Za-z0-9_-]{20,}\b`)},
	{"a Docker Hub token", "dckr_", regexp.MustCompile(`\bdckr_[po]at_[A-Za-z0-9_-]{27,}`)},
	{"an npm token", "npm_", regexp.MustCompile(`\bnpm_[A-Za-z0-9]{36}\b`)},
	{"a PyPI token", "pypi-", regexp.MustCompile(`\bpypi-[A-Za-z0-9_-]{80,}`)},
	{"a SendGrid key", "SG.", regexp.MustCompile(`\bSG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}\b`)},
	{"an OpenAI key", "sk-", regexp.MustCompile(`\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}|\bsk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b`)},
	{"an Anthropic key", "sk-ant-", regexp.MustCompile(`\bsk-ant-[a-z0-9]{3,10}-[A-Za-z0-9_-]{80,}`)},
	{"a Hugging Face token", "hf_", regexp.MustCompile(`\bhf_[A-Za-z0-9]{34,}\b`)},
	{"a DigitalOcean token", "_v1_", regexp.MustCompile(`\bdo[opr]_v1_[a-f0-9]{64}\b`)},
	{"a Grafana token", "gl", regexp.MustCompile(`\bglsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}\b|\bglc_eyJ[A-Za-z0-9+/]{40,}`)},
	{"a Terraform Cloud token", ".atlasv1.", regexp.MustCompile(`\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}`)},
	{"a Shopify token", "shp", regexp.MustCompile(`\bshp(at|ca|pa|ss)_[a-fA-F0-9]{32}\b`)},
	{"an Atlassian token", "ATATT3", regexp.MustCompile(`\bATATT3[A-Za-z0-9_=-]{100,}`)},
	{"a 1Password token", "ops_eyJ", regexp.MustCompile(`\bops_eyJ[A-Za-z0-9+/_-]{100,}`)},
	{"a Teams webhook", "webhook.office.com/", regexp.MustCompile(`webhook\.office\.com/webhookb2/[a-f0-9-]{36}@[a-f0-9-]{36}/IncomingWebhook/[a-f0-9]{32}`)},
	{"a key of Azure Storage", "AccountKey=", regexp.MustCompile(`AccountKey=[A-Za-z0-9+/]{80,}={0,2}`)},
	{"a JSON Web Token", "eyJ", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{20,}`)},
}

// leastToken is how long the shortest of the tokens are.
const leastToken = 20

// TokenIn names the credential in a text, "" where it holds none of a known form.
func TokenIn(text string) string {
	name, _ := tokenIn(text)
	return name
}

// tokenIn is [TokenIn], and where the credential begins.
func tokenIn(text string) (name string, at int) {
	if len(text) < leastToken {
		return "", 0
	}
	for _, t := range tokens {
		if !strings.Contains(text, t.prefix) {
			continue
		}
		for _, found := range t.form.FindAllStringIndex(text, mostKeys) {
			if entropy(text[found[0]:found[1]]) > 3 {
				return t.name, found[0]
			}
		}
	}
	return "", 0
}

var (
	ageKey  = regexp.MustCompile(`AGE-SECRET-KEY-(PQ-)?1[0-9A-Z]{50,}`)
	pemKey  = regexp.MustCompile(`-----BEGIN ((?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?)-----\s*\n?([\sA-Za-z0-9+/=:,.()-]*?)-----END`)
	pemLine = regexp.MustCompile(`[A-Za-z0-9+/=]{40,}`)
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

// PrivateKeysIn finds the private keys in a text that are in clear, none with a password, in
// their order. What only looks like one, such as an explanation with dots in it, is none either.
func PrivateKeysIn(text string) []PrivateKey {
	if !slices.ContainsFunc(keyMarks, func(mark string) bool { return strings.Contains(text, mark) }) {
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
// first group: an entry of .netrc, a line of .pgpass, and the header of a request.
var entries = []struct {
	marks []string
	form  *regexp.Regexp
}{
	{[]string{"machine", "password"}, regexp.MustCompile(`\bmachine\s+[^\s]+\s+login\s+[^\s]+\s+password\s+([^\s"',]{6,})`)},
	{[]string{":*:"}, pgpass},
	{[]string{":5432:"}, pgpass},
	{[]string{"earer "}, regexp.MustCompile(`\b[Bb]earer ([A-Za-z0-9._~+/-]{16,}=*)`)},
	{[]string{"asic "}, regexp.MustCompile(`(?i:authorization)["']?[:=]\s*["']?[Bb]asic ([A-Za-z0-9+/]{16,}=*)`)},
	{[]string{"auth", "="}, userPassword},
	{[]string{"auth", `":`}, userPassword},
}

// pgpass is a line of the file in which clients of Postgres look for passwords.
var pgpass = regexp.MustCompile(`(?m)^[A-Za-z0-9.*-]+:(?:[0-9]{2,5}|\*):[A-Za-z0-9_.*-]+:[A-Za-z0-9_.*-]+:([^\s:/]{8,})$`)

// userPassword is what registries take: the user's name and the password in base64.
var userPassword = regexp.MustCompile(`(?:^|[^A-Za-z0-9])_?auth["']?\s*[:=]\s*["']?([A-Za-z0-9+/]{12,}={0,2})["']?(?:[\s,}]|$)`)

// entryIn is where a password in one of the forms of [entries] begins; -1 where there is none.
func entryIn(text string) int {
	for _, e := range entries {
		if slices.ContainsFunc(e.marks, func(mark string) bool { return !strings.Contains(text, mark) }) {
			continue
		}
		for _, found := range e.form.FindAllStringSubmatchIndex(text, mostKeys) {
			password := text[found[2]:found[3]]
			if e.form == userPassword {
				password = behindUser(password)
			}
			if !IsPlaceholder(password) && IsRandom(password) {
				return found[2]
			}
		}
	}
	return -1
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
