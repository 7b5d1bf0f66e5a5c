package repository

import "strings"

// HoldsSecrets says whether a text within a document may be a manifest, a patch or a generator of a
// Secret: it has a line such as "kind: Secret", the word stringData, or the path of a JSON patch to values of one.
func HoldsSecrets(text string) bool {
	return eachWord(text, "Secret", func(before, after string) bool {
		return endsWithKey(before, "kind") && startsNoWord(strings.TrimPrefix(strings.TrimPrefix(after, "List"), "Generator"))
	}) || eachWord(text, "stringData", func(before, after string) bool {
		return endsNoWord(before) && startsNoWord(after) || endsWithPath(before) && startsNoWord(after)
	}) || eachWord(text, "data", func(before, after string) bool {
		return endsWithPath(before) && startsNoWord(after)
	})
}

// eachWord says whether one of the places where a word stands in a text is as wanted, by what is
// before and behind it.
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

// endsWithPath says whether a text ends with the key of a JSON pointer, and the slash that it begins with.
func endsWithPath(text string) bool {
	text, slash := strings.CutSuffix(text, "/")
	return slash && endsWithKey(text, "path")
}

// endsWithKey says whether a text ends with a key, a colon and perhaps a quote, the key quoted or not.
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
