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

// mostShown is the maximum length, in bytes, of a secret value that is searched for in the objects of a chart.
const mostShown = 64 << 10

// hideSecrets returns a function that hides secret values, and those that look secret, wherever a chart copies them in plaintext
// or in base64.
func hideSecrets(values ...*located.Value) func(text string) string {
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

// prover renders the objects of both sides.
type prover struct {
	ctx   context.Context
	fleet *reconcile.Fleet
}

// installed converts an object that differs.
func installed(o *reconcile.Object, fields []reconcile.FieldDiff) InstalledObject {
	return InstalledObject{Object: finding.Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name},
		Template: o.Template, Fields: fielddiff.Of(fields)}
}
