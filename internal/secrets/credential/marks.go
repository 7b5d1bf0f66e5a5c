package credential

import "strings"

// marks are texts of which each credential of a known form holds one. To look for all of them at once is
// much quicker than a regular expression for each form.
type marks struct {
	all []string
	// first is for each pair of bytes 1 + the index of its list in begin, which are the marks that begin
	// with the pair; 0 where none does.
	first [1 << 16]uint8
	begin [][]int
}

// set are marks by their indexes, up to 128.
type set [2]uint64

func (s *set) add(i int) { s[i>>6] |= 1 << (i & 63) }

func (s set) has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }

// meets says whether two sets have a mark in common.
func (s set) meets(other set) bool { return s[0]&other[0] != 0 || s[1]&other[1] != 0 }

func (s set) isEmpty() bool { return s == set{} }

// add adds marks of two bytes or more, and returns which they are.
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

// in returns the marks that a text holds.
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
