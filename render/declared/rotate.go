package declared

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/envelope"
)

// isRotated reports whether a declared Secret gets new values: the options name it, with or without its
// namespace.
func (s *syncer) isRotated(d *v1alpha1.DeclaredSecret) bool {
	return slices.ContainsFunc(s.options.Rotate, func(name string) bool { return name == d.Name || name == d.String() })
}

// checkRotated returns an error for names of undeclared Secrets, and for keys that cannot simply be replaced.
func (s *syncer) checkRotated(files []generators.SecretFile) error {
	var names []string
	for _, f := range files {
		if !f.Retired {
			names = append(names, f.Secret.Name, f.Secret.String())
		}
	}
	for _, name := range s.options.Rotate {
		if slices.Contains(names, name) {
			continue
		}
		hint := "write NAME or NAMESPACE/NAME of a declared Secret"
		if near, ok := nearest.To(name, names); ok {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return advice.Input(fmt.Errorf("--rotate %q: the specification declares no such Secret", name), hint)
	}
	for _, f := range files {
		if t := s.read.Spec.TenantKey(f.Secret); t != nil && s.isRotated(f.Secret) {
			return advice.Input(
				fmt.Errorf("--rotate: Secret %s is the key of tenant %s, and the clusters could no longer decrypt what is encrypted to it", f.Secret, t.Metadata.Name),
				"replace it together with the tenant: docs/secrets.md, Tenants' keys",
			)
		}
	}
	return nil
}

// rotate gets new values for an existing Secret, each from its declared source. If an environment variable is
// not set, its key keeps its value, unless no other key changes.
func (s *syncer) rotate(r Result, rule *secrets.CreationRule, old []byte) (Result, error) {
	r.Action = Rotate
	if s.options.Check {
		r.KeysRotated = r.Secret.DataKeys()
		return r, nil
	}
	plain, err := envelope.Decrypt(r.Path, old, s.options.Keys())
	if err != nil {
		return r, fmt.Errorf("--rotate must decrypt Secret %s to compare its values with the new ones: %w", r.Secret, err)
	}
	before, err := readObject(plain)
	if err != nil {
		return r, fmt.Errorf("%s: %w", r.Path, err)
	}
	wanted := s.available(r)
	created, err := s.values(r.Secret, wanted)
	if err != nil {
		return r, err
	}
	for _, key := range r.Secret.DataKeys() {
		if value, isNew := created.data[key]; isNew && !bytes.Equal(value, before.value(key)) {
			r.KeysRotated = append(r.KeysRotated, key)
		} else {
			r.KeysSame = append(r.KeysSame, key)
		}
	}
	if len(r.KeysRotated) == 0 {
		return r, advice.Input(
			fmt.Errorf("--rotate: Secret %s has no new value: %s would stay as they are", r.Secret, strings.Join(r.KeysSame, ", ")),
			s.wayToRotate(r),
		)
	}
	r.PublicKeys = created.public
	generated := secrets.HasGeneratedValues(old) || len(r.KeysSame)+len(r.KeysKept) == 0
	changed, err := changeObject(plain, r.Secret, created, r.KeysRemoved, generated)
	if err != nil {
		return r, fmt.Errorf("%s: %w", r.Path, err)
	}
	return r, s.seal(r, old, changed, rule)
}

// available returns the keys of a Secret whose values can be read or generated again: all except those whose environment
// variable is not set or whose file does not exist. Keys that the encrypted Secret lacks are always included.
func (s *syncer) available(r Result) []string {
	var wanted []string
	for _, k := range r.Secret.Keys {
		gone := k.From.Env != "" && s.options.Env(k.From.Env) == "" || k.From.File != "" && !s.exists(k.From.File)
		if gone && !slices.Contains(r.KeysAdded, k.Name) {
			continue
		}
		wanted = append(wanted, k.Name)
		if k.From.SSHKeyPair != nil {
			wanted = append(wanted, k.Name+v1alpha1.PublicSuffix)
		}
	}
	return wanted
}

// wayToRotate describes where the new values of a Secret come from.
func (s *syncer) wayToRotate(r Result) string {
	var from []string
	for _, k := range r.Secret.Keys {
		switch {
		case k.From.Env != "":
			from = append(from, "the variable "+k.From.Env)
		case k.From.File != "":
			from = append(from, "the file "+k.From.File)
		}
	}
	return "put the new value into " + strings.Join(from, " or ")
}

// value returns the value of a key of a plaintext Secret, nil if the key does not exist.
func (o *object) value(key string) []byte {
	if text, is := o.StringData[key]; is {
		return []byte(text)
	}
	text, is := o.Data[key]
	if !is {
		return nil
	}
	value, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return value
}
