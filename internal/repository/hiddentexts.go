package repository

import (
	"cmp"
	"strings"

	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// Leading are the texts that stand for a value which a name leads to, and which a build may carry into
// any field, as the variables of a Kustomization do; of a Secret's values all count but for names and
// evident ones. A word, or a number, counts only where it is quoted: it may stand anywhere else by itself.
func Leading(name, value string, ofSecret bool) []string {
	value = strings.TrimSpace(value)
	switch {
	case len(value) < leastLeading || credential.IsPlaceholder(value) || len(value) > longestLine:
		return nil
	case !ofSecret && !credential.HideLine(name, value), ofSecret && credential.Judge(name, value) == credential.Public:
		return nil
	case plainName.MatchString(value) || credential.IsEvident(value):
		if !credential.HideLine(name, value) {
			return nil
		}
		return []string{`"` + value + `"`}
	}
	all := []string{value}
	if len(value) >= leastCased { // as the functions of variables change it
		all = append(all, strings.ToLower(value), strings.ToUpper(value))
	}
	return all
}

// leastLeading is how long a value is at least that is hidden wherever it stands, and leastCased one that
// is hidden in small letters and in capitals, too.
const (
	leastLeading = 4
	leastCased   = 8
)

// Know makes texts known that neither messages nor source lines of any file show.
func (l *Lines) Know(texts []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, text := range texts {
		if l.known[text] || len(l.known) >= mostNoted {
			continue
		}
		if l.known == nil {
			l.known = map[string]bool{}
		}
		l.known[text], l.hideKnown = true, nil
	}
}

// Without is a text without what [Lines.Know] made known.
func (l *Lines) Without(text string) string {
	l.mu.Lock()
	if l.hideKnown == nil && len(l.known) > 0 {
		texts := make([]string, 0, len(l.known))
		for text := range l.known {
			texts = append(texts, text)
		}
		l.hideKnown = hiding(texts)
	}
	hide := cmp.Or(l.hideKnown, nothing)
	l.mu.Unlock()
	return hide.Replace(text)
}

// nothing is hidden by it.
var nothing = strings.NewReplacer()
