// Package declared makes the files of Secrets that a specification declares, and
// brings those that are there to what it says of their keys and readers. What
// nothing is said of anew stays byte for byte.
//
// Values in plaintext are in memory only. No error, and nothing that is returned,
// holds one.
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
	"github.com/fleetwright/fleetwright/internal/encryption"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/envelope"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/render"
)

// Action is what is done with the file of a declared Secret.
type Action string

// The actions.
const (
	Create  Action = "create"
	Change  Action = "change"      // what is declared of it changed: encrypted anew
	Give    Action = "give"        // its readers changed: the values stay as they are
	Keep    Action = "keep"        // byte for byte
	Publish Action = "publish key" // the file stays, its public key is added to the specification
)

// Result is what becomes of a declared Secret.
type Result struct {
	generators.SecretFile
	Action Action
	// KeysAdded and KeysRemoved are those of its data; Changed are the fields that
	// differ from what is declared: type, labels, annotations.
	KeysAdded, KeysRemoved, Changed []string
	// KeysKept are those of its data that were never declared: somebody added them.
	KeysKept []string
	// Readers that come and go.
	Readers envelope.Change
	// PublicKeys of the private keys that are made, by the keys of its data.
	PublicKeys map[string]string
}

// Options of Sync.
type Options struct {
	// Check plans, reads no value and writes nothing.
	Check bool
	// Outside lets values come from any file. Without it, hidden files and the system's are
	// refused that lie outside of the folder that fleet/ stands in.
	Outside bool
	// Variables are those that values may come from although credentials are kept in them: SOPS'
	// own anywhere, and in CI those of the CI system and of clouds.
	Variables []string
	// Env looks up the variables that values come from.
	Env func(string) string
	// Keys that open files whose keys changed; they are asked for late.
	Keys func() *keys.Identities
	Now  time.Time
}

// Outcome is what Sync did, or would do.
type Outcome struct {
	// Root is the folder that fleet/ stands in.
	Root string
	// Results are sorted by path.
	Results []Result
	// Specification is the file that public keys were added to, "" for none.
	Specification string
	// Outside are files that values were read from and that lie outside of Root.
	Outside []string
	// Recovery says what an interrupted write left in the folder.
	Recovery tree.Recovery
}

// Any says whether anything is to be done.
func (o Outcome) Any() bool {
	return slices.ContainsFunc(o.Results, func(r Result) bool { return r.Action != Keep })
}

// Sync brings the files of the Secrets that the specification in a folder declares
// to what it says: all of them, or none where one can't be. The error names all
// that is missing.
func Sync(ctx context.Context, dir string, o Options) (out Outcome, err error) {
	read, err := render.ReadSpecification(dir)
	if err != nil {
		return out, err
	}
	if !o.Check {
		if out.Recovery, err = tree.Recover(read.Root); err != nil {
			return out, err
		}
		if out.Recovery.Finished > 0 { // the specification may be among what was finished
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
	if s.rules, err = rulesOf(read.Spec); err != nil {
		return out, err
	}
	var errs []error
	for _, f := range generators.SecretFiles(read.Spec) {
		if f.Retired {
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
		out.Results = append(out.Results, r)
	}
	if err := errors.Join(errs...); err != nil || o.Check {
		return out, err
	}
	out.Specification, out.Outside = s.specification, s.outside
	return out, tree.Apply(ctx, read.Root, &tree.Plan{Steps: s.steps()})
}

// rulesOf are the rules of the .sops.yaml that is rendered of a specification.
func rulesOf(spec *v1alpha1.Spec) (*secrets.Config, error) {
	content, err := encryption.Platform(spec)
	if err != nil {
		return nil, err
	}
	return secrets.ParseConfig(secrets.ConfigName, content)
}

// syncer gathers what is to be written.
type syncer struct {
	read    *render.Specification
	options Options
	folder  tree.Reader
	rules   *secrets.Config
	writes  []tree.Step
	// files are those of the specification, with the public keys added so far;
	// specification is the one that changed.
	files         []specs.File
	specification string
	// outside are files that were read outside of the root.
	outside []string
}

// file plans one declared Secret.
func (s *syncer) file(f generators.SecretFile) (Result, error) {
	r := Result{SecretFile: f, Action: Keep}
	rule := s.rules.For(f.Path)
	if rule == nil {
		return r, fmt.Errorf("%s: no rule of %s is for this file", f.Path, secrets.ConfigName)
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

// create makes a Secret that is not there.
func (s *syncer) create(r Result, rule *secrets.CreationRule) (Result, error) {
	r.Action, r.KeysAdded = Create, r.Secret.DataKeys()
	if s.options.Check {
		return r, nil
	}
	made, err := s.values(r.Secret, r.KeysAdded)
	if err != nil {
		return r, err
	}
	r.PublicKeys = made.public
	plain, err := objectOf(r.Secret, made)
	if err != nil {
		return r, fmt.Errorf("%s: %w", r.Path, err)
	}
	return r, errors.Join(s.seal(r, nil, plain, rule), s.publish(r))
}

// seal encrypts a Secret and keeps it for the end.
func (s *syncer) seal(r Result, old, plain []byte, rule *secrets.CreationRule) error {
	content, err := envelope.Encrypt(r.Path, plain, rule, s.options.Now)
	if err != nil {
		return err
	}
	return s.write(r.Path, old, secrets.MarkMade(content))
}

// write keeps a file for the end. None with a value in plaintext gets there.
func (s *syncer) write(file string, old, content []byte) error {
	if clear := (*secrets.ClearError)(nil); errors.As(secrets.CheckEncrypted(content), &clear) {
		return &render.BadInput{
			Err:  fmt.Errorf("%s: encrypted by its rule of %s, %w", file, secrets.ConfigName, clear),
			Hint: "let encryptedRegex of the Encryption, or of its rule, choose data: ^(data|stringData)$",
		}
	}
	action := tree.Create
	if old != nil {
		action = tree.Update
	}
	s.writes = append(s.writes, tree.Step{Path: file, Action: action, Mode: tree.Carried, Old: old, New: content})
	return nil
}

// update brings a Secret that is there to what is declared.
func (s *syncer) update(r Result, rule *secrets.CreationRule, old []byte) (Result, error) {
	if clear := (*secrets.ClearError)(nil); errors.As(secrets.CheckEncrypted(old), &clear) {
		return r, &render.BadInput{
			Err:  fmt.Errorf("%s:%d:%d: %w", r.Path, clear.Line, clear.Column, clear),
			Hint: "encrypt it: fleetwright secrets encrypt " + r.Path + "; or take it away, and it is made anew",
		}
	}
	there, err := readObject(old)
	if err != nil {
		return r, fmt.Errorf("%s: %w", r.Path, err)
	}
	if there.name() != r.Secret.String() {
		return r, &render.BadInput{Err: fmt.Errorf("%s: holds Secret %s, and %s is declared there", r.Path, there.name(), r.Secret), Hint: "move the file away"}
	}
	r.KeysAdded, r.KeysRemoved, r.KeysKept, r.Changed = there.differences(r.Secret)
	if r.Readers, err = envelope.Compare(r.Path, old, rule); err != nil {
		return r, err
	}
	switch {
	case len(r.KeysAdded)+len(r.KeysRemoved)+len(r.Changed) > 0:
		r.Action = Change
		if s.options.Check {
			return r, nil
		}
		return s.change(r, rule, old)
	case r.Readers.Any():
		r.Action = Give
		if s.options.Check {
			return r, nil
		}
		content, _, err := envelope.UpdateKeys(r.Path, old, rule, s.options.Keys())
		if err != nil {
			return r, fmt.Errorf("giving it to other readers: %w", err)
		}
		return r, s.write(r.Path, old, content)
	}
	return s.keep(r, there)
}

// keep adds the public key of a tenant's own key to the specification, where that
// lacks it.
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

// change opens a Secret, changes what is declared of it, and encrypts it anew.
func (s *syncer) change(r Result, rule *secrets.CreationRule, old []byte) (Result, error) {
	plain, err := envelope.Decrypt(r.Path, old, s.options.Keys())
	if err != nil {
		return r, fmt.Errorf("what is declared of it changed (%s), which takes a key that opens it: %w", r.what(), err)
	}
	made, err := s.values(r.Secret, r.KeysAdded)
	if err != nil {
		return r, err
	}
	r.PublicKeys = made.public
	changed, err := changeObject(plain, r.Secret, made, r.KeysRemoved, secrets.AsMade(old))
	if err != nil {
		return r, fmt.Errorf("%s: %w", r.Path, err)
	}
	return r, errors.Join(s.seal(r, old, changed, rule), s.publish(r))
}

// what lists the changes of a Secret.
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

// unpublished are the public keys of a tenant's own key that the specification
// lacks.
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

// publish adds the public key of a tenant's own key to the tenant's recipients.
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

// steps are all files that are written, sorted by path, the specification's among
// them.
func (s *syncer) steps() []tree.Step {
	steps := slices.Clone(s.writes)
	for i, f := range s.files {
		if before := s.read.Files[i].Content; string(before) != string(f.Content) {
			steps = append(steps, tree.Step{Path: f.Path, Action: tree.Update, Mode: tree.Once, Old: before, New: f.Content})
		}
	}
	slices.SortFunc(steps, func(a, b tree.Step) int { return strings.Compare(a.Path, b.Path) })
	return steps
}

// sortedKeys of a map.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
