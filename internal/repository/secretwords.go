package repository

import "strings"

// HoldsSecrets reports whether a string in a document may be a manifest, a patch or a generator of a
// Secret: it contains a line such as "kind: Secret", the word stringData, or the path of a JSON patch to values of a Secret.
func HoldsSecrets(text string) bool {
	return eachWord(text, "Secret", func(before, after string) bool {
		return endsWithKey(before, "kind") && startsNoWord(strings.TrimPrefix(strings.TrimPrefix(after, "List"), "Generator"))
	}) || eachWord(text, "stringData", func(before, after string) bool {
		return endsNoWord(before) && startsNoWord(after) || endsWithPath(before) && startsNoWord(after)
	}) || eachWord(text, "data", func(before, after string) bool {
		return endsWithPath(before) && startsNoWord(after)
	})
}

// eachWord reports whether wanted returns true for one of the places where a string contains a word. It passes the
// text before and after the word.
func eachWord(text, word string, wanted func(before, after string) bool) bool {
	for at := 0; ; at += len(word) {
		next := strings.Index(text[at:], word)
		if next < 0 {
			return false
		}
		at += next
		if wanted(text[:at], text[at+len(word):]) {
			return true
		}
	}
}

// endsWithPath reports whether a string ends with the field path of a JSON patch, up to the slash that starts the pointer.
func endsWithPath(text string) bool {
	text, slash := strings.CutSuffix(text, "/")
	return slash && endsWithKey(text, "path")
}

// endsWithKey reports whether a string ends with a key, which may be quoted, a colon and perhaps a quote.
func endsWithKey(text, key string) bool {
	text, colon := strings.CutSuffix(strings.TrimRight(withoutQuote(text), " \t"), ":")
	if !colon {
		return false
	}
	text, is := strings.CutSuffix(withoutQuote(strings.TrimRight(text, " \t")), key)
	return is && endsNoWord(text)
}

func withoutQuote(text string) string {
	if text != "" && strings.IndexByte(`"'`, text[len(text)-1]) >= 0 {
		return text[:len(text)-1]
	}
	return text
}

func endsNoWord(text string) bool { return text == "" || !isWord(text[len(text)-1]) }

func startsNoWord(text string) bool { return text == "" || !isWord(text[0]) }

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}
