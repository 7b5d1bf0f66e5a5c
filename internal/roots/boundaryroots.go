package roots

import (
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"

	"github.com/fleetwright/fleetwright/internal/boundary"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// boundaryRoots returns the folders of a tenant's repository that its platform applies.
func boundaryRoots(repo *repository.Repository) []Root {
	var all []Root
	for _, b := range boundary.Find(repo) {
		if len(b.Errors) > 0 {
			continue
		}
		for i, dir := range b.Spec.Paths {
			all = append(all, boundaryRoot(&b, i, boundary.Folder(dir)))
		}
	}
	return all
}

// boundaryRoot returns the root for a path of a tenant: the Kustomization with which a platform applies it.
func boundaryRoot(b *boundary.Boundary, i int, dir string) Root {
	name := b.Metadata.Name
	r := Root{
		Path: dir, Base: ".", Place: finding.Place{File: b.Object.File()}, Namespace: b.Spec.SyncNamespace, Name: name,
		Source: Source{Kind: "GitRepository", Namespace: b.Spec.SyncNamespace, Name: name}, Boundary: b,
	}
	if a := b.Spec.Admission; a != nil && a.Repository != "" && a.Branch != "" {
		r.URL, r.Ref = a.Repository, "refs/heads/"+a.Branch
	}
	r.Line, r.Column = b.Object.Position("spec", "paths", i)
	r.Spec = kustomizev1.KustomizationSpec{
		Path: dir, Prune: true, Wait: true, TargetNamespace: b.Spec.TargetNamespace, ServiceAccountName: name,
		SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: r.Source.Kind, Name: name},
	}
	if d := b.Spec.Decryption; d != nil {
		r.Spec.Decryption = &kustomizev1.Decryption{Provider: d.Provider}
		if d.SecretRef != nil {
			r.Spec.Decryption.SecretRef = &meta.LocalObjectReference{Name: d.SecretRef.Name}
		}
	}
	return r
}
