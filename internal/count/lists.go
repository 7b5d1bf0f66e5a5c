package count

import (
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// Lists counts the elements that paths such as a.b[65535] create: a list is filled up to the index.
// The zero value is ready to use.
type Lists struct {
	lengths  map[string]int
	elements int
	copied   int
}

// Add counts the elements that a path creates. It returns an *Error when all paths together create too
// many.
func (l *Lists) Add(path string) error {
	for at := 0; ; {
		open := strings.IndexByte(path[at:], '[')
		if open < 0 {
			return nil
		}
		at += open + 1
		digits, _, closed := strings.Cut(path[at:], "]")
		index, err := strconv.Atoi(strings.TrimSpace(digits))
		if !closed || err != nil || index < 0 || index > 1<<20 {
			continue // Helm refuses it
		}
		if err := l.grow(path[:at], index+1); err != nil {
			return err
		}
	}
}

// grow counts the elements that a list gets until it has at least a length.
func (l *Lists) grow(list string, length int) error {
	if l.lengths == nil {
		l.lengths = map[string]int{}
	}
	if has := l.lengths[list]; length > has {
		l.lengths[list] = length
		l.elements += length - has
		l.copied += length
	}
	switch {
	case l.elements > limits.ListElements:
		return Errorf("the indexes in its paths create more than %d elements of lists", limits.ListElements)
	case l.copied > limits.ListCopies:
		return Errorf("the lists of its paths grow by so many indexes that more than %d elements are copied", limits.ListCopies)
	}
	return nil
}

// AddLine counts the elements that a line of Helm's --set creates: by the path, and by the paths in
// the value, which begin after a comma.
func (l *Lists) AddLine(path, value string) error {
	if err := l.Add(path); err != nil {
		return err
	}
	if !strings.Contains(value, "[") {
		return nil
	}
	for i, part := range strings.Split(value, ",") {
		path, _, assigned := strings.Cut(part, "=")
		if i == 0 || !assigned {
			continue
		}
		if err := l.Add(path); err != nil {
			return err
		}
	}
	return nil
}
