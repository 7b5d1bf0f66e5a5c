package finding

import (
	"encoding/json"
	"io"

	"github.com/fleetwright/fleetwright/internal/output"
)

// WriteJSON writes a report as JSON. Later versions may add fields but never rename them;
// lists are never null.
func WriteJSON(w io.Writer, r Report) error {
	encoder := json.NewEncoder(output.JSON(w))
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r.withLists())
}
