// Package newkey puts new keys where they belong: the private part into a file of its owner's,
// the public part into the specification.
package newkey

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/replace"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/splice"
)

// specFolder holds the specification, and newFile an Encryption that it doesn't have yet.
const (
	specFolder = "fleet"
	newFile    = specFolder + "/encryption.yaml"
)

// Edit is a specification that gets a public key.
type Edit struct {
	dir        string
	repo       *repository.Repository
	holder     secrets.Holder
	encryption *repository.Object // nil where there is none
}

// Prepare reads the specification in a folder. The holder must be in it.
func Prepare(dir string, holder secrets.Holder) (*Edit, error) {
	repo, err := repository.Load(dir, repository.Options{})
	if err != nil {
		return nil, &Error{Message: fmt.Sprintf("reading the specification: %v", err), hint: "name the folder that holds fleet/"}
	}
	e := &Edit{dir: dir, repo: repo, holder: holder}
	found := slices.DeleteFunc(secrets.Encryptions(repo), func(o *repository.Object) bool { return !inSpec(o) })
	if len(found) > 1 {
		return nil, &Error{At: at(found[1]), Message: "the specification has a second Encryption", hint: "keep one"}
	}
	if len(found) == 1 {
		e.encryption = found[0]
	}
	names := e.names()
	if holder.Scope != secrets.Platform && !slices.Contains(names, holder.Name) {
		return nil, &Error{Message: fmt.Sprintf("the specification in %s has no %s %q", filepath.ToSlash(filepath.Join(dir, specFolder)), holder.Scope, holder.Name), hint: hintNames(holder.Scope, names)}
	}
	return e, nil
}

func hintNames(scope secrets.Scope, names []string) string {
	if len(names) == 0 {
		return "add one, or name the folder that holds fleet/"
	}
	return fmt.Sprintf("each %s is one of %s", scope, strings.Join(names, ", "))
}

func inSpec(o *repository.Object) bool {
	return strings.HasPrefix(o.Document.File.Path, specFolder+"/")
}

func at(o *repository.Object) string {
	return fmt.Sprintf("%s:%d:1", o.Document.File.Path, o.Node.Line)
}

// names are those of the specification's clusters or tenants.
func (e *Edit) names() []string {
	kind := "Cluster"
	if e.holder.Scope == secrets.Tenant {
		kind = "Tenant"
	}
	var names []string
	for _, o := range e.repo.ByKind("fleetwright.dev", kind) {
		if inSpec(o) {
			names = append(names, o.Name)
		}
	}
	slices.Sort(names)
	return names
}

// SecretName is the Secret in which Flux looks for a private key.
func (e *Edit) SecretName() string {
	if e.encryption != nil {
		if name, ok := e.encryption.Text("spec", "secretRef", "name"); ok {
			return name
		}
	}
	return "sops-age"
}

// Namespace is the one in which a tenant's Kustomizations stand.
func (e *Edit) Namespace() string {
	for _, o := range e.repo.ByKind("fleetwright.dev", "Tenant") {
		if ns, ok := o.Text("spec", "syncNamespace"); ok && o.Name == e.holder.Name && inSpec(o) {
			return ns
		}
	}
	return e.holder.Name + "-flux"
}

// Change is one to the specification, which isn't made yet.
type Change struct {
	// File that changes, and What is done to it.
	File, What string

	dir     string
	content []byte
	exists  bool
}

// Write makes the change.
func (c *Change) Write() error {
	if c.exists {
		return replace.Files(c.dir, map[string][]byte{c.File: c.content})
	}
	file := filepath.Join(c.dir, filepath.FromSlash(c.File))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(c.content)
	return errors.Join(err, f.Close())
}

// Add adds a public key of the holder's to its Encryption.
func (e *Edit) Add(public string) (*Change, error) {
	path := e.path()
	if e.encryption == nil {
		return e.create(public)
	}
	file := e.encryption.Document.File.Path
	data, err := e.repo.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(slices.Clone(data), '\n')
	}
	edit, err := insertion(e.encryption.Node, path, public)
	if err != nil {
		return nil, &Error{At: at(e.encryption), Message: err.Error(), hint: fmt.Sprintf("add it by hand, at %s", strings.Join(path, "."))}
	}
	edit.File = file
	result, err := splice.Apply(func(string) ([]byte, error) { return data, nil }, []*finding.Fix{{Edits: []finding.Edit{edit}}})
	if err != nil {
		return nil, err
	}
	content := result.Files[file]
	if !e.holds(file, content, path, public) {
		return nil, &Error{At: at(e.encryption), Message: "the public key can't be added without changing the layout of the Encryption", hint: fmt.Sprintf("add it by hand, at %s", strings.Join(path, "."))}
	}
	return &Change{File: file, What: "has the public key, at " + strings.Join(path, "."), dir: e.dir, content: content, exists: true}, nil
}

// path leads to the recipients of the holder.
func (e *Edit) path() []string {
	switch e.holder.Scope {
	case secrets.Cluster:
		return []string{"spec", "recipients", "clusters", e.holder.Name, "age"}
	case secrets.Tenant:
		return []string{"spec", "recipients", "tenants", e.holder.Name, "age"}
	}
	return []string{"spec", "recipients", "platform", "age"}
}

// create writes an Encryption where there is none.
func (e *Edit) create(public string) (*Change, error) {
	if info, err := os.Stat(filepath.Join(e.dir, specFolder)); err != nil || !info.IsDir() {
		return nil, &Error{Message: fmt.Sprintf("there is no specification in %s", filepath.ToSlash(filepath.Join(e.dir, specFolder))), hint: "name the folder that holds fleet/, or begin with fleetwright init"}
	}
	if _, err := os.Lstat(filepath.Join(e.dir, filepath.FromSlash(newFile))); !errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{Message: newFile + " exists, and has no Encryption that can be read", hint: "mend it, or put the Encryption into another file of fleet/"}
	}
	text := "apiVersion: fleetwright.dev/v1alpha1\nkind: Encryption\nmetadata:\n  name: encryption\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\n"
	for i, key := range e.path() {
		text += strings.Repeat("  ", i) + key + ":\n"
	}
	text += strings.Repeat("  ", len(e.path())) + "- " + public + "\n"
	return &Change{File: newFile, What: "is new, with the public key", dir: e.dir, content: []byte(text)}, nil
}

// holds says whether a text has the public key where it belongs, and all that was there before.
func (e *Edit) holds(file string, content []byte, path []string, public string) bool {
	repo, err := repository.FromFiles(func(yield func(string, []byte) bool) { yield(file, content) }, repository.Options{})
	if err != nil {
		return false
	}
	found := secrets.Encryptions(repo)
	if len(found) != 1 {
		return false
	}
	steps := make([]any, len(path))
	for i := range path {
		steps[i] = path[i]
	}
	list := found[0].Lookup(steps...)
	if list == nil || list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		return false
	}
	var before, after []secrets.Recipient
	for _, h := range secrets.Holders(e.encryption) {
		before = append(before, h.Keys...)
	}
	for _, h := range secrets.Holders(found[0]) {
		after = append(after, h.Keys...)
	}
	last := list.Content[len(list.Content)-1].Value
	return last == public && len(after) == len(before)+1
}
