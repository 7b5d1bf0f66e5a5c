package credential

import (
	"strings"
	"unicode/utf8"
)

// marks are strings of which each credential of a known form contains one. Searching all of them at once is
// much faster than matching a regular expression for each form.
type marks struct {
	all []string
	// first maps each pair of bytes to 1 + the index of a list in begin, which contains the marks that begin with the pair;
	// 0 if no mark does.
	first [1 << 16]uint8
	begin [][]int
}

// set is a set of marks by their indexes, up to 128.
type set [2]uint64

func (s *set) add(i int) { s[i>>6] |= 1 << (i & 63) }

func (s set) has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }

// meets reports whether two sets have a mark in common.
func (s set) meets(other set) bool { return s[0]&other[0] != 0 || s[1]&other[1] != 0 }

func (s set) isEmpty() bool { return s == set{} }

// add adds marks of two bytes or more, and returns the set of them.
func (m *marks) add(added ...string) (indexes set) {
	for _, mark := range added {
		pair := uint16(mark[0])<<8 | uint16(mark[1])
		if m.first[pair] == 0 {
			m.begin = append(m.begin, nil)
			m.first[pair] = uint8(len(m.begin))
		}
		list := &m.begin[m.first[pair]-1]
		*list = append(*list, len(m.all))
		indexes.add(len(m.all))
		m.all = append(m.all, mark)
	}
	return indexes
}

// in returns the set of marks that a text contains.
func (m *marks) in(text string) (found set) {
	for i := 1; i < len(text); i++ {
		list := m.first[uint16(text[i-1])<<8|uint16(text[i])]
		if list == 0 {
			continue
		}
		for _, mark := range m.begin[list-1] {
			if !found.has(mark) && strings.HasPrefix(text[i-1:], m.all[mark]) {
				found.add(mark)
			}
		}
	}
	return found
}

// stems are strings in lower case, stored as [marks], that a text may contain in any case. Searching them first
// is much faster than a regular expression that ignores case.
type stems struct{ marks }

func stemsOf(all ...string) *stems {
	s := &stems{}
	s.add(all...)
	return s
}

// small maps ASCII letters to lower case, and other bytes to themselves.
var small = func() (small [256]byte) {
	for i := range small {
		small[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			small[i] += 'a' - 'A'
		}
	}
	return small
}()

// in reports whether a text contains a stem in any case; it may return true for a text with other than ASCII characters
// that contains none.
func (s *stems) in(text string) bool {
	if text == "" {
		return false
	}
	before := small[text[0]]
	for i := 1; i < len(text); i++ {
		c := text[i]
		if c >= utf8.RuneSelf {
			return s.beyondASCII(text)
		}
		next := small[c]
		list := s.first[uint16(before)<<8|uint16(next)]
		before = next
		if list == 0 {
			continue
		}
		for _, stem := range s.begin[list-1] {
			if end := i - 1 + len(s.all[stem]); end <= len(text) && strings.EqualFold(text[i-1:end], s.all[stem]) {
				return true
			}
		}
	}
	return text[0] >= utf8.RuneSelf && s.beyondASCII(text)
}

func (s *stems) beyondASCII(text string) bool {
	lower := strings.ToLower(text)
	for _, stem := range s.all {
		if strings.Contains(lower, stem) {
			return true
		}
	}
	// Regular expressions that ignore case match a long s as an s.
	return strings.ContainsRune(lower, 'ſ')
}
