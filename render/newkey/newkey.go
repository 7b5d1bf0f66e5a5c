// Package newkey stores new keys: the private key in a file that only its owner can read, the public key in the
// specification.
package newkey

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/replace"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
)

// newFile is the file for an Encryption if the specification has none yet.
const newFile = render.SpecFolder + "/encryption.yaml"

// Edit adds a public key to a specification.
type Edit struct {
	*render.Specification
	holder secrets.Holder
}

// Prepare reads the specification in a folder. It returns an error if the specification does not have the
// holder.
func Prepare(dir string, holder secrets.Holder) (*Edit, error) {
	spec, err := render.ReadKeyless(dir)
	if err != nil {
		return nil, err
	}
	e := &Edit{spec, holder}
	if names := e.names(); holder.Scope != secrets.Platform && !slices.Contains(names, holder.Name) {
		hint := "add one to the specification"
		if len(names) > 0 {
			hint = fmt.Sprintf("each %s is one of %s", holder.Scope, strings.Join(names, ", "))
		}
		return nil, advice.Input(fmt.Errorf("the specification has no %s %q", holder.Scope, holder.Name), hint)
	}
	return e, nil
}

// names returns the names of the specification's clusters or tenants.
func (e *Edit) names() []string {
	var names []string
	if e.holder.Scope == secrets.Cluster {
		for _, c := range e.Spec.Clusters {
			names = append(names, c.Metadata.Name)
		}
		return names
	}
	for _, t := range e.Spec.Tenants {
		names = append(names, t.Metadata.Name)
	}
	return names
}

// SecretName returns the name of the Secret in which Flux looks for a private key.
func (e *Edit) SecretName() string {
	if enc := e.Spec.Encryption; enc != nil && enc.Spec.SecretRef != nil {
		return enc.Spec.SecretRef.Name
	}
	return v1alpha1.DefaultAgeSecret
}

// Namespace returns the namespace of a tenant's Kustomizations.
func (e *Edit) Namespace() string {
	for _, t := range e.Spec.Tenants {
		if t.Metadata.Name == e.holder.Name {
			return t.Spec.SyncNamespace
		}
	}
	return ""
}

// Change is a change of the specification that is not yet written.
type Change struct {
	// File is the file that changes, relative to the folder of the specification. What describes the change.
	File, What string

	root            string
	before, content []byte
	exists          bool
}

// Write writes the change.
func (c *Change) Write(ctx context.Context) error {
	if c.exists {
		return replace.All(ctx, []replace.Change{{File: filepath.Join(c.root, filepath.FromSlash(c.File)), Old: c.before, New: c.content}})
	}
	return tree.Apply(ctx, c.root, &tree.Plan{Steps: []tree.Step{{Path: c.File, Action: tree.Create, New: c.content}}})
}

// scopes are the fields of the Encryption for each scope.
var scopes = map[secrets.Scope]string{secrets.Platform: "platform", secrets.Cluster: "clusters", secrets.Tenant: "tenants"}

// Add returns the change that adds a public key to those of the holder.
func (e *Edit) Add(public string) (*Change, error) {
	path := []string{"spec", "recipients", scopes[e.holder.Scope]}
	if e.holder.Name != "" {
		path = append(path, e.holder.Name)
	}
	path = append(path, "age")
	if e.Spec.Encryption == nil {
		return e.create(path, public)
	}
	file, err := specs.AddRecipient(e.Files, scopes[e.holder.Scope], e.holder.Name, public)
	if err != nil {
		return nil, advice.Input(err, "")
	}
	var before []byte
	for _, f := range e.Files {
		if f.Path == file.Path {
			before = f.Content
		}
	}
	return &Change{before: before, File: file.Path, What: "has the public key, at " + strings.Join(path, "."), root: e.Root, content: file.Content, exists: true}, nil
}

// create returns the change that creates an Encryption.
func (e *Edit) create(path []string, public string) (*Change, error) {
	if _, err := os.Lstat(filepath.Join(e.Root, filepath.FromSlash(newFile))); err == nil {
		return nil, advice.Input(errors.New(newFile+" exists, and has no Encryption"), "put the Encryption into it, or into another file of "+render.SpecFolder+"/")
	}
	text := "apiVersion: " + v1alpha1.APIVersion + "\nkind: " + v1alpha1.KindEncryption + "\nmetadata:\n  name: encryption\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\n"
	for i, key := range path {
		text += strings.Repeat("  ", i) + key + ":\n"
	}
	text += strings.Repeat("  ", len(path)) + "- " + public + "\n"
	return &Change{File: newFile, What: "is new, with the public key", root: e.Root, content: []byte(text)}, nil
}
