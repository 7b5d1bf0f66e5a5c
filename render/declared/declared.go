// Package declared creates the files of the Secrets that a specification declares, and updates existing files
// to the declared keys and readers. Other content of the files stays byte for byte.
//
// Plaintext values are in memory only. Errors and results never contain one.
package declared

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/envelope"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
)

// Action describes how Sync changes the file of a declared Secret.
type Action string

// The actions.
const (
	Create    Action = "create"
	Change    Action = "change"      // its declaration changed: it is encrypted again
	Reencrypt Action = "give"        // its readers changed: the values stay
	Keep      Action = "keep"        // the file stays byte for byte
	Publish   Action = "publish key" // the file stays, and its public key is added to the specification
	Rotate    Action = "rotate"      // it gets new values, and is encrypted again
)

// Result is the result for one declared Secret.
type Result struct {
	generators.SecretFile
	Action Action
	// KeysAdded and KeysRemoved are keys of the Secret's data. Changed are the fields that differ from the declaration:
	// type, labels, annotations.
	KeysAdded, KeysRemoved, Changed []string
	// KeysKept are the keys of its data that were never declared, because somebody added them.
	KeysKept []string
	// KeysRotated are the keys of its data that got a new value. KeysSame are the keys of a rotated Secret
	// whose value did not change, because its source has no new one.
	KeysRotated, KeysSame []string
	// Readers are the recipients that are added and removed.
	Readers envelope.Change
	// PublicKeys are the public keys of the created private keys, by the keys of the data.
	PublicKeys map[string]string
	// Repository is the URL of the Git repository that clusters read with the Secret; "" for other Secrets.
	Repository string
}

// Options are the options of Sync.
type Options struct {
	// Check plans, but reads no values and writes nothing.
	Check bool
	// Rotate lists the declared Secrets, as NAME or NAMESPACE/NAME, that get new values. Others are then left as they are.
	Rotate []string
	// Outside allows values from any file. Without it, hidden files and files of the system are refused if they
	// are outside the folder that contains fleet/.
	Outside bool
	// Variables are the environment variables with credentials from which values may come nevertheless. By
	// default, SOPS' own variables are refused, and in CI also those of the CI system and of clouds.
	Variables []string
	// Env returns the value of an environment variable.
	Env func(string) string
	// Keys returns the private keys that decrypt files whose data keys changed. It is called only if they are
	// needed.
	Keys func() *keys.Identities
	Now  time.Time
}

// Outcome is the result of Sync, or of its plan.
type Outcome struct {
	// Root is the folder that contains fleet/.
	Root string
	// Results are sorted by path.
	Results []Result
	// Specification is the file to which public keys were added, "" if there is none.
	Specification string
	// Outside are the files outside Root from which values were read.
	Outside []string
	// Recovery describes what an interrupted write left in the folder.
	Recovery tree.Recovery
}

// repositoryOf returns the URL of the Git repository that clusters read with a Secret; "" for other Secrets.
func repositoryOf(spec *v1alpha1.Spec, s *v1alpha1.DeclaredSecret) string {
	is := func(ref *v1alpha1.SecretRef, namespace string) bool {
		return ref != nil && ref.Name == s.Name && namespace == s.Namespace
	}
	if is(spec.Fleet.Spec.Repository.SecretRef, layout.FluxNamespace) {
		return spec.Fleet.Spec.Repository.URL
	}
	for _, t := range spec.Tenants {
		if t.Spec.Source.Kind == v1alpha1.SourceGit && is(t.Spec.Source.SecretRef, t.Spec.SyncNamespace) {
			return t.Spec.Source.URL
		}
	}
	return ""
}

// Any reports whether any file has to change.
func (o Outcome) Any() bool {
	return slices.ContainsFunc(o.Results, func(r Result) bool { return r.Action != Keep })
}

// Sync creates or updates the files of the Secrets that the specification in a folder declares: all of them, or none if
// one fails. The error lists all missing values.
func Sync(ctx context.Context, dir string, o Options) (out Outcome, err error) {
	read, err := render.ReadSpecification(dir)
	if err != nil {
		return out, err
	}
	if !o.Check {
		if out.Recovery, err = tree.Recover(read.Root); err != nil {
			return out, err
		}
		if out.Recovery.Finished > 0 { // the interrupted write may have changed the specification
			if read, err = render.ReadSpecification(dir); err != nil {
				return out, err
			}
		}
	}
	out.Root = read.Root
	folder, err := tree.OpenFolder(read.Root)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	s := &syncer{read: read, options: o, folder: folder, files: slices.Clone(read.Files)}
	if s.rules, err = secrets.OfSpecification(read.Spec); err != nil {
		return out, err
	}
	all := generators.SecretFiles(read.Spec)
	if err := s.checkRotated(all); err != nil {
		return out, err
	}
	var errs []error
	for _, f := range all {
		if f.Retired || len(o.Rotate) > 0 && !s.isRotated(f.Secret) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
		r, err := s.file(f)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r.Repository = repositoryOf(read.Spec, f.Secret)
		out.Results = append(out.Results, r)
	}
	if err := errors.Join(errs...); err != nil || o.Check {
		return out, err
	}
	out.Specification, out.Outside = s.specification, s.outside
	return out, tree.Apply(ctx, read.Root, &tree.Plan{Steps: s.steps()})
}

// syncer collects the files to write.
type syncer struct {
	read    *render.Specification
	options Options
	folder  tree.Reader
	rules   *secrets.Config
	writes  []tree.Step
	// files are the files of the specification, with the public keys that were added so far. specification is the changed
	// file.
	files         []specs.File
	specification string
	// outside are the files outside the root that were read.
	outside []string
}

// file plans one declared Secret.
func (s *syncer) file(f generators.SecretFile) (Result, error) {
	r := Result{SecretFile: f, Action: Keep}
	rule := s.rules.For(f.Path)
	if rule == nil {
		return r, fmt.Errorf("%s: no rule of %s matches this file", f.Path, secrets.ConfigName)
	}
	old, err := s.folder.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return s.create(r, rule)
	}
	if err != nil {
		return r, err
	}
	return s.update(r, rule, old)
}

// create creates a Secret that has no file.
func (s *syncer) create(r Result, rule *secrets.CreationRule) (Result, error) {
	r.Action, r.KeysAdded = Create, r.Secret.DataKeys()
	if s.options.Check {
		return r, nil
	}
	created, err := s.values(r.Secret, r.KeysAdded)
	if err != nil {
		return r, err
	}
	r.PublicKeys = created.public
	plain, err := objectOf(r.Secret, created)
	if err != nil {
		return r, fmt.Errorf("%s: %w", r.Path, err)
	}
	return r, errors.Join(s.seal(r, nil, plain, rule), s.publish(r))
}

// seal encrypts a Secret and adds its file to those to write.
func (s *syncer) seal(r Result, old, plain []byte, rule *secrets.CreationRule) error {
	content, err := envelope.Encrypt(r.Path, plain, rule, s.options.Now)
	if err != nil {
		return err
	}
	return s.write(r.Path, old, secrets.MarkGenerated(content))
}

// write adds a file to those to write. It returns an error if the file has a plaintext value.
func (s *syncer) write(file string, old, content []byte) error {
	if clear := (*secrets.ClearError)(nil); errors.As(secrets.CheckEncrypted(content), &clear) {
		return advice.Input(
			fmt.Errorf("%s: after encryption by its rule of %s: %w", file, secrets.ConfigName, clear),
			"let encryptedRegex of the Encryption, or of its rule, match data: ^(data|stringData)$",
		)
	}
	action := tree.Create
	if old != nil {
		action = tree.Update
	}
	s.writes = append(s.writes, tree.Step{Path: file, Action: action, Mode: tree.Carried, Old: old, New: content})
	return nil
}

// update changes an existing Secret to match its declaration.
func (s *syncer) update(r Result, rule *secrets.CreationRule, old []byte) (Result, error) {
	if clear := (*secrets.ClearError)(nil); errors.As(secrets.CheckEncrypted(old), &clear) {
		return r, advice.Input(
			fmt.Errorf("%s:%d:%d: %w", r.Path, clear.Line, clear.Column, clear),
			"encrypt it: fleetwright secrets encrypt "+r.Path+"; or delete it, and it is created again",
		)
	}
	there, err := readObject(old)
	if err != nil {
		return r, fmt.Errorf("%s: %w", r.Path, err)
	}
	if there.name() != r.Secret.String() {
		return r, advice.Input(fmt.Errorf("%s: contains Secret %s, but %s is declared there", r.Path, there.name(), r.Secret), "move the file away")
	}
	r.KeysAdded, r.KeysRemoved, r.KeysKept, r.Changed = there.differences(r.Secret)
	if r.Readers, err = envelope.Compare(r.Path, old, rule); err != nil {
		return r, err
	}
	switch {
	case s.isRotated(r.Secret):
		return s.rotate(r, rule, old)
	case len(r.KeysAdded)+len(r.KeysRemoved)+len(r.Changed) > 0:
		r.Action = Change
		if s.options.Check {
			return r, nil
		}
		return s.change(r, rule, old)
	case r.Readers.Any():
		r.Action = Reencrypt
		if s.options.Check {
			return r, nil
		}
		content, _, err := envelope.UpdateKeys(r.Path, old, rule, s.options.Keys())
		if err != nil {
			return r, fmt.Errorf("updating its recipients: %w", err)
		}
		return r, s.write(r.Path, old, content)
	}
	return s.keep(r, there)
}

// keep adds the public key of a tenant's own key to the specification, if it is missing there.
func (s *syncer) keep(r Result, there *object) (Result, error) {
	public := there.publicKeys(r.Secret)
	if missing := s.unpublished(r.Secret, public); len(missing) == 0 {
		return r, nil
	}
	r.Action, r.PublicKeys = Publish, public
	if s.options.Check {
		return r, nil
	}
	return r, s.publish(r)
}

// change decrypts a Secret, applies the changes of its declaration, and encrypts it again.
func (s *syncer) change(r Result, rule *secrets.CreationRule, old []byte) (Result, error) {
	plain, err := envelope.Decrypt(r.Path, old, s.options.Keys())
	if err != nil {
		return r, fmt.Errorf("its declaration changed (%s), and updating it needs a key that opens it: %w", r.what(), err)
	}
	created, err := s.values(r.Secret, r.KeysAdded)
	if err != nil {
		return r, err
	}
	r.PublicKeys = created.public
	changed, err := changeObject(plain, r.Secret, created, r.KeysRemoved, secrets.HasGeneratedValues(old))
	if err != nil {
		return r, fmt.Errorf("%s: %w", r.Path, err)
	}
	return r, errors.Join(s.seal(r, old, changed, rule), s.publish(r))
}

// what lists the changes of a Secret, for messages.
func (r Result) what() string {
	var parts []string
	for _, key := range r.KeysAdded {
		parts = append(parts, "+"+key)
	}
	for _, key := range r.KeysRemoved {
		parts = append(parts, "-"+key)
	}
	return strings.Join(append(parts, r.Changed...), ", ")
}

// unpublished returns the public keys of a tenant's own key that are missing in the specification.
func (s *syncer) unpublished(d *v1alpha1.DeclaredSecret, public map[string]string) []string {
	t := s.read.Spec.TenantKey(d)
	if t == nil {
		return nil
	}
	var missing []string
	for _, k := range d.Keys {
		if key := public[k.Name]; k.From.AgeKey != nil && key != "" &&
			!slices.Contains(s.read.Spec.Encryption.Spec.Recipients.Tenants[t.Metadata.Name].Age, key) {
			missing = append(missing, key)
		}
	}
	return missing
}

// publish adds the public key of a tenant's own key to the tenant's recipients in the specification.
func (s *syncer) publish(r Result) error {
	for _, key := range s.unpublished(r.Secret, r.PublicKeys) {
		changed, err := specs.AddRecipient(s.files, "tenants", r.Secret.Tenant, key)
		if err != nil {
			return err
		}
		if changed == nil {
			continue
		}
		i := slices.IndexFunc(s.files, func(f specs.File) bool { return f.Path == changed.Path })
		s.files[i], s.specification = *changed, changed.Path
	}
	return nil
}

// steps returns all files to write, including those of the specification, sorted by path.
func (s *syncer) steps() []tree.Step {
	steps := slices.Clone(s.writes)
	for i, f := range s.files {
		if before := s.read.Files[i].Content; string(before) != string(f.Content) {
			steps = append(steps, tree.Step{Path: f.Path, Action: tree.Update, Mode: tree.Once, Old: before, New: f.Content})
		}
	}
	sorting.Func(steps, func(a, b tree.Step) int { return strings.Compare(a.Path, b.Path) })
	return steps
}

// sortedKeys returns the sorted keys of a map.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
