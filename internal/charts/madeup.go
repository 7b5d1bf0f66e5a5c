package charts

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// epoch is what the clock says to templates.
var epoch = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)

// certificate is what functions that make one give. The texts are none, and are the same for
// all: making real ones takes seconds.
type certificate struct{ Cert, Key string }

// madeUp are the functions that would give something else in each run, wait, look at the
// machine's time zones or ask a name server. What they give is made up from the seed.
func (x *execution) madeUp() template.FuncMap {
	made := certificate{pem("CERTIFICATE"), pem("RSA PRIVATE KEY")}
	return template.FuncMap{
		"now":            func() time.Time { return epoch },
		"ago":            func(any) string { return "0s" },
		"date":           func(format string, date any) string { return utc(date).Format(format) },
		"dateInZone":     func(format string, date any, _ string) string { return utc(date).Format(format) },
		"date_in_zone":   func(format string, date any, _ string) string { return utc(date).Format(format) },
		"htmlDate":       func(date any) string { return utc(date).Format(time.DateOnly) },
		"htmlDateInZone": func(date any, _ string) string { return utc(date).Format(time.DateOnly) },
		"toDate":         func(format, text string) time.Time { t, _ := time.ParseInLocation(format, text, time.UTC); return t },
		"mustToDate":     func(format, text string) (time.Time, error) { return time.ParseInLocation(format, text, time.UTC) },
		"keys":           keys,
		"values":         sortedValues,
		"getHostByName":  func(string) string { return "" },

		"randAlphaNum": func(n int) (string, error) { return x.random(n, letters+digits) },
		"randAlpha":    func(n int) (string, error) { return x.random(n, letters) },
		"randNumeric":  func(n int) (string, error) { return x.random(n, digits) },
		"randAscii":    func(n int) (string, error) { return x.random(n, letters+digits+"!#$%&()*+,-./:;<=>?@[]^_{|}~") },
		"randBytes":    x.randomBytes,
		"randInt":      x.randomInt,
		"shuffle":      x.shuffled,
		"uuidv4":       x.uuid,

		"genPrivateKey":            func(kind string) string { return pem(strings.ToUpper(kind) + " PRIVATE KEY") },
		"genCA":                    func(string, int) certificate { return made },
		"genCAWithKey":             func(string, int, string) certificate { return made },
		"genSelfSignedCert":        func(string, []any, []any, int) certificate { return made },
		"genSelfSignedCertWithKey": func(string, []any, []any, int, string) certificate { return made },
		"genSignedCert":            func(string, []any, []any, int, certificate) certificate { return made },
		"genSignedCertWithKey":     func(string, []any, []any, int, certificate, string) certificate { return made },
		"buildCustomCert":          builtCertificate,
		"bcrypt":                   func(string) string { return hashed },
		"htpasswd":                 func(user, _ string) string { return user + ":" + hashed },
		"encryptAES":               func(_, _ string) string { return base64.StdEncoding.EncodeToString([]byte("encrypted by the chart")) },
	}
}

// keys returns the keys of maps, sorted map by map. Those of sprig have another order in each run.
func keys(dicts ...map[string]any) []string {
	all := []string{}
	for _, m := range dicts {
		all = append(all, slices.Sorted(maps.Keys(m))...)
	}
	return all
}

// sortedValues returns the values of a map in the order of its keys.
func sortedValues(m map[string]any) []any {
	all := []any{}
	for _, key := range keys(m) {
		all = append(all, m[key])
	}
	return all
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
	// hashed looks like what bcrypt gives, and is no password's.
	hashed = "$2a$10$................................................."
)

// pem is a text in the form of a PEM block.
func pem(kind string) string {
	body := base64.StdEncoding.EncodeToString([]byte("made by the chart when it is installed"))
	return fmt.Sprintf("-----BEGIN %s-----\n%s\n-----END %[1]s-----\n", kind, body)
}

// builtCertificate decodes what it is given, as sprig does, without looking into it.
func builtCertificate(cert, key string) (certificate, error) {
	c, err := base64.StdEncoding.DecodeString(cert)
	if err != nil {
		return certificate{}, fmt.Errorf("unable to decode base64 certificate: %w", err)
	}
	k, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return certificate{}, fmt.Errorf("unable to decode base64 private key: %w", err)
	}
	return certificate{string(c), string(k)}, nil
}

// utc is a date as sprig takes one, in UTC, where controllers live.
func utc(date any) time.Time {
	switch date := date.(type) {
	case time.Time:
		return date.UTC()
	case *time.Time:
		return date.UTC()
	case int64:
		return time.Unix(date, 0).UTC()
	case int:
		return time.Unix(int64(date), 0).UTC()
	case int32:
		return time.Unix(int64(date), 0).UTC()
	}
	return epoch
}

// newRandom gives the same numbers for the same seed.
func newRandom(seed string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(seed))
	return rand.New(rand.NewPCG(h.Sum64(), 0)) //nolint:gosec // no secret is made of it
}

// source is where random numbers come from: where the run is steady, each call gets the same ones, whatever
// was called before it.
func (x *execution) source() *rand.Rand {
	if x.steady {
		return newRandom("")
	}
	return x.rand
}

func (x *execution) random(n int, of string) (string, error) {
	if n = max(n, 0); n > limits.ChartOutput {
		return "", errAtOnce
	}
	if x.drawn += n; x.drawn > limits.ChartOutput {
		return "", errDrawn
	}
	var b strings.Builder
	source := x.source()
	for range n {
		b.WriteByte(of[source.IntN(len(of))])
	}
	return b.String(), nil
}

func (x *execution) randomBytes(n int) (string, error) {
	bytes, err := x.random(n, letters+digits)
	return base64.StdEncoding.EncodeToString([]byte(bytes)), err
}

// randomInt is at least the first number, and less than the second.
func (x *execution) randomInt(from, to int) (int, error) {
	if to <= from {
		return 0, fmt.Errorf("randInt: %d is not greater than %d", to, from)
	}
	return from + x.source().IntN(to-from), nil
}

func (x *execution) shuffled(text string) string {
	runes := []rune(text)
	x.source().Shuffle(len(runes), func(i, j int) { runes[i], runes[j] = runes[j], runes[i] })
	return string(runes)
}

func (x *execution) uuid() string {
	source := x.source()
	a, b := source.Uint64(), source.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0xfff, b&0xffffffffffff)
}
