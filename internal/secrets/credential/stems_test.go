package credential

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStems: no text that a regular expression matches is passed over, since it holds none of the
// stems that are looked for first.
func TestStems(t *testing.T) {
	pieces := strings.Fields("pass word passwd phrase pwd psk Pwd Psk secret SECRET ſecret token To_ken key KEY Key api access private encryption client " +
		"auth license webhook url URL data - _ . $ ${ } $( ) {{ }} < > % ENC[ :// : = change me CHANGE-ME this replace with place holder example redacted dummy " +
		"foo bar to do to-do tbd fix your some my insert xxxx 0000 *** true old 1 22 b64 $2a$ {SHA} abcdefghijklmnopqrstuvwxyz0123 Ünï")
	names, values := 0, 0
	random := rand.New(rand.NewPCG(1, 2))
	for range 40_000 {
		var b strings.Builder
		for range 1 + random.IntN(4) {
			if b.Len() > 0 && random.IntN(3) == 0 {
				b.WriteByte(' ')
			}
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		text := b.String()
		if secretNames().MatchString(text) || strongName(text) {
			names++
			if !nameStems.in(text) {
				t.Errorf("the name %q is passed over", text)
			}
		}
		if placeholders().MatchString(text) {
			values++
			if !isPlaceholder(text) {
				t.Errorf("the placeholder %q is passed over", text)
			}
		}
		if hashes().MatchString(text) && !known(text) {
			t.Errorf("the hash %q is passed over", text)
		}
		for _, marked := range []bool{dollarReferences().MatchString(text), braceReferences().MatchString(text), angleReferences().MatchString(text)} {
			if marked && !isReference(text) {
				t.Errorf("the reference %q is passed over", text)
			}
		}
		if assigned().MatchString(text) && len(assignments(text)) == 0 {
			t.Errorf("the setting %q is passed over", text)
		}
	}
	if names < 300 || values < 300 {
		t.Errorf("%d names and %d placeholders are too few of each", names, values)
	}
}
