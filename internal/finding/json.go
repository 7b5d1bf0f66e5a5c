package finding

import (
	"encoding/json"
	"io"

	"github.com/fleetwright/fleetwright/internal/output"
)

// WriteJSON writes a report for machines. Fields may be added, never renamed;
// lists are never null.
func WriteJSON(w io.Writer, r Report) error {
	encoder := json.NewEncoder(output.JSON(w))
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r.withLists())
}
