package output

import (
	"fmt"
	"strings"
)

// maxListed is the maximum number of names in a list.
const maxListed = 20

// List joins names with commas. Of more than 20 names, it returns the first ones and the number of the others.
func List(names []string) string {
	if len(names) > maxListed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
	}
	return strings.Join(names, ", ")
}
