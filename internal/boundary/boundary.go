// Package boundary reads the TenantBoundary of a repository: what a platform allows its tenant.
package boundary

import (
	"reflect"
	"slices"
	"sync"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// Boundary is a TenantBoundary of a repository.
type Boundary struct {
	v1alpha1.TenantBoundary
	Object *repository.Object
	// Errors are the errors of the TenantBoundary; rules use it only if there are none.
	Errors []*strict.Error
}

// table returns the fields of a TenantBoundary.
var table = sync.OnceValues(func() (strict.Table, error) {
	return strict.FieldsOf(reflect.TypeFor[v1alpha1.TenantBoundary]())
})

// Find returns the boundaries in a repository, in the order of their files.
func Find(repo *repository.Repository) []Boundary {
	var all []Boundary
	for _, o := range repo.ByKind(v1alpha1.Group, v1alpha1.TenantBoundaryKind) {
		if !repository.IsPutAway(o.File()) {
			all = append(all, read(repo, o))
		}
	}
	return all
}

func read(repo *repository.Repository, o *repository.Object) Boundary {
	b := Boundary{Object: o}
	into := &strict.Object{File: o.File(), Kind: o.Kind, Name: o.Name, Root: o.Node}
	report := &strict.Report{}
	fields, err := table()
	if err != nil {
		panic(err) // the types are ours
	}
	strict.DecodeInto(into, &b.TenantBoundary, fields, report)
	if o.APIVersion != v1alpha1.APIVersion {
		at := strict.At("apiVersion")
		report.Add(into.ErrorAt(into.Node(at), at, "write "+v1alpha1.APIVersion, "unknown version of "+v1alpha1.Group))
	}
	if len(report.Errors) == 0 {
		b.checkPaths(repo, into, report)
	}
	b.Errors = report.Errors
	return b
}

// checkPaths reports the paths that are not folders of the repository, and a target namespace that is not one of the tenant's.
func (b *Boundary) checkPaths(repo *repository.Repository, into *strict.Object, report *strict.Report) {
	for i, dir := range b.Spec.Paths {
		at := strict.At("spec", "paths").Item(i)
		if _, found := repo.ReadDir(Folder(dir)); !found {
			report.Add(into.ErrorAt(into.Node(at), at, "create the folder: Flux applies it", "path "+strict.Quote(dir)+" does not exist"))
		}
	}
	if target := b.Spec.TargetNamespace; target != "" && !slices.Contains(b.Spec.Namespaces, target) {
		at := strict.At("spec", "targetNamespace")
		report.Add(into.ErrorAt(into.Node(at), at, "add it to spec.namespaces", "targetNamespace "+strict.Quote(target)+" is not one of the namespaces"))
	}
}

// Folder returns a path of a boundary in the form in which the repository names folders.
func Folder(path string) string { return repository.Clean(path) }
