package bootstrap

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fielddiff"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/mask"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// mostShown is the length up to which encodings of a hidden value are looked for, in bytes.
const mostShown = 64 << 10

// without hides what the comparison of the values hides: the values that are secret or look like one, wherever a chart
// copies them to, as they are or in base64.
func without(values ...*located.Value) func(text string) string {
	var texts mask.Texts
	for _, all := range values {
		if all == nil {
			continue
		}
		all.Walk("", func(path string, v *located.Value) {
			text := cmp.Or(v.Spelled, fmt.Sprint(v.Scalar))
			if v.IsMap || v.IsList || len(text) > mostShown ||
				!v.Secret && !credential.Hide(path[strings.LastIndexByte(path, '.')+1:], text) {
				return
			}
			texts.Add(text, base64.StdEncoding.EncodeToString([]byte(text)))
		})
	}
	return texts.Without
}

// prover renders what both sides install.
type prover struct {
	ctx   context.Context
	fleet *reconcile.Fleet
}

// installed is an object that differs.
func installed(o *reconcile.Object, fields []reconcile.FieldDiff) InstalledObject {
	return InstalledObject{Object: finding.Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name},
		Template: o.Template, Fields: fielddiff.Of(fields)}
}
