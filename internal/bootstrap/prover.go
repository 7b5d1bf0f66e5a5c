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
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// mostShown is the length up to which encodings of a hidden value are looked for, in bytes.
const mostShown = 64 << 10

// without returns hide, and hides besides what the comparison of the values hides: the values that are secret or look like
// one, wherever an object has them, as they are or in base64.
func (p *prover) without(values ...*located.Value) func(text string) string {
	var pairs []string
	for _, all := range values {
		if all == nil {
			continue
		}
		all.Walk("", func(path string, v *located.Value) {
			text := cmp.Or(v.Spelled, fmt.Sprint(v.Scalar))
			if v.IsMap || v.IsList || len(text) < shortSecret || len(text) > mostShown ||
				!v.Secret && !credential.Hide(path[strings.LastIndexByte(path, '.')+1:], text) {
				return
			}
			pairs = append(pairs, text, finding.Hidden, base64.StdEncoding.EncodeToString([]byte(text)), finding.Hidden)
		})
	}
	replacer := strings.NewReplacer(pairs...)
	return func(text string) string { return replacer.Replace(p.hide(text)) }
}

// shortSecret is the length below which a value may be in any text by chance, in bytes.
const shortSecret = 4

// prover renders what both sides install.
type prover struct {
	ctx   context.Context
	fleet *reconcile.Fleet
	hide  func(text string) string
}

// object is one that differs, without what is hidden.
func (p *prover) object(o *reconcile.Object, fields []reconcile.FieldDiff, hide func(string) string) InstalledObject {
	out := InstalledObject{Object: finding.Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: p.hide(o.Namespace), Name: p.hide(o.Name)},
		Template: o.Template, Fields: fielddiff.Of(fields)}
	for i := range out.Fields {
		out.Fields[i].Hide(hide)
	}
	return out
}
