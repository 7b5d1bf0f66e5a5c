package builds

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// AbsentParts returns the certain failures of a kustomization wherever it is built: listed resources
// and components that do not exist. It is for kustomizations that no cluster builds. If the repository
// may be incomplete, it returns none.
func AbsentParts(repo *repository.Repository, k *repository.Kustomize) []Failure {
	if k.Spec == nil || k.Document == nil {
		return nil
	}
	var absent []Failure
	for _, list := range []struct {
		field string
		refs  []string
	}{{"resources", k.Spec.Resources}, {"components", k.Spec.Components}} {
		written := k.Document.Lookup(list.field)
		for i, ref := range list.refs {
			at, inside := repository.Join(k.Dir, ref)
			if written == nil || i >= len(written.Content) || !inside || chartref.IsRemote(ref) || strings.ContainsAny(ref, "${}<>*?:\n") || !repo.Lacks(at) {
				continue
			}
			f := Failure{Reason: BuildFailed, Place: finding.Place{File: repo.Named(k.File.Path)}, Message: fmt.Sprintf("%s: %q doesn't exist", list.field, ref)}
			f.Line, f.Column = k.Document.Position(list.field, i)
			absent = append(absent, f)
		}
	}
	return absent
}
