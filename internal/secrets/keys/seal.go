package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	"filippo.io/age/plugin"
)

// Seal encrypts a few bytes, such as a data key, to one recipient, as ASCII armor.
func Seal(to string, data []byte) (armored string, err error) {
	r, err := recipient(strings.TrimSpace(to))
	if err != nil {
		return "", fmt.Errorf("%q is not a recipient of age", to)
	}
	var out bytes.Buffer
	a := armor.NewWriter(&out)
	w, err := age.Encrypt(a, r)
	if missing := (*plugin.NotFoundError)(nil); errors.As(err, &missing) {
		return "", &PluginError{Recipient: to, Name: missing.Name}
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", to, err)
	}
	if _, err := w.Write(data); err != nil {
		return "", err
	}
	if err := errors.Join(w.Close(), a.Close()); err != nil {
		return "", err
	}
	return out.String(), nil
}

// PluginError says that the plugin of a recipient is not there.
type PluginError struct{ Recipient, Name string }

func (e *PluginError) Error() string {
	return fmt.Sprintf("%s is encrypted to by a plugin, and there is no age-plugin-%s on PATH", e.Recipient, e.Name)
}

// Hint is the way out.
func (e *PluginError) Hint() string { return "install age-plugin-" + e.Name }

// ErrOther says that none of some keys is the one that a message was encrypted to.
var ErrOther = errors.New("none of the private keys opens it")

// ErrCorrupt says that a message is none of age's, or was changed or cut off.
var ErrCorrupt = errors.New("it is no message of age: it was changed, or cut off")

// mostSealed is how long a sealed message may be, in bytes: a data key has 32.
const mostSealed = 1 << 20

// Open decrypts what [Seal] encrypted. The error is [ErrOther], [ErrCorrupt], or
// what a plugin said.
func (i *Identities) Open(armored string) ([]byte, error) {
	if len(i.ids) == 0 {
		return nil, ErrOther
	}
	r, err := age.Decrypt(armor.NewReader(strings.NewReader(armored)), i.ids...)
	if missing := (*plugin.NotFoundError)(nil); errors.As(err, &missing) {
		return nil, fmt.Errorf("there is no age-plugin-%s on PATH", missing.Name)
	}
	if other := (*age.NoIdentityMatchError)(nil); errors.As(err, &other) {
		return nil, ErrOther
	}
	if err != nil {
		return nil, ErrCorrupt
	}
	data, err := io.ReadAll(io.LimitReader(r, mostSealed))
	if err != nil {
		return nil, ErrCorrupt
	}
	return data, nil
}

// noTerminal answers plugins that ask: a message is left out, a question is refused.
func noTerminal() *plugin.ClientUI {
	refuse := errors.New("it asks for something, which only sops can pass on")
	return &plugin.ClientUI{
		DisplayMessage: func(string, string) error { return nil },
		RequestValue:   func(string, string, bool) (string, error) { return "", refuse },
		Confirm:        func(string, string, string, string) (bool, error) { return false, refuse },
		WaitTimer:      func(string) {},
	}
}
