package finding

import (
	"encoding/json"
	"io"
)

// WriteJSON writes a report for machines. Fields may be added, never renamed;
// lists are never null.
func WriteJSON(w io.Writer, r Report) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r.withLists())
}
