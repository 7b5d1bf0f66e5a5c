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

	"github.com/fleetwright/fleetwright/internal/advice"
)

// Seal encrypts a few bytes, such as a data key, to one recipient, as ASCII armor.
func Seal(to string, data []byte) (armored string, err error) {
	r, err := recipient(strings.TrimSpace(to))
	if err != nil {
		return "", fmt.Errorf("%q is not an age recipient", to)
	}
	var out bytes.Buffer
	a := armor.NewWriter(&out)
	w, err := age.Encrypt(a, r)
	if missing := (*plugin.NotFoundError)(nil); errors.As(err, &missing) {
		return "", advice.New(fmt.Errorf("%s needs a plugin, but age-plugin-%s is not on PATH", to, missing.Name), "install age-plugin-"+missing.Name)
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

// ErrOther is returned if a message was encrypted to none of the keys.
var ErrOther = errors.New("no private key opens it")

// ErrCorrupt is returned for a message that is not age's, or that was changed or truncated.
var ErrCorrupt = errors.New("it is not an age message: it was changed or truncated")

// mostSealed is the maximum length of a sealed message, in bytes: a data key has 32.
const mostSealed = 1 << 20

// Open decrypts the output of [Seal]. The error is [ErrOther], [ErrCorrupt], or the error of a
// plugin.
func (i *Identities) Open(armored string) ([]byte, error) {
	if len(i.ids) == 0 {
		return nil, ErrOther
	}
	r, err := age.Decrypt(armor.NewReader(strings.NewReader(armored)), i.ids...)
	if missing := (*plugin.NotFoundError)(nil); errors.As(err, &missing) {
		return nil, fmt.Errorf("age-plugin-%s is not on PATH", missing.Name)
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

// noTerminal is the interface for plugins that interact with the user: messages are dropped, and questions are refused.
func noTerminal() *plugin.ClientUI {
	refuse := errors.New("it asks for input, which only sops supports")
	return &plugin.ClientUI{
		DisplayMessage: func(string, string) error { return nil },
		RequestValue:   func(string, string, bool) (string, error) { return "", refuse },
		Confirm:        func(string, string, string, string) (bool, error) { return false, refuse },
		WaitTimer:      func(string) {},
	}
}
