package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"filippo.io/age/plugin"
	"golang.org/x/crypto/ssh"
)

// Identities are private keys. They never print the keys.
type Identities struct {
	ids []age.Identity
	// Recipients are the public keys that the private keys contain. Keys of plugins and SSH keys contain none.
	Recipients []string
	// Looked are the places that were searched and contain no key.
	Looked []string
	// Problems are errors of places whose keys can't be read; each names its place.
	Problems []error
}

// String returns the number of keys, so that no key is printed.
func (i *Identities) String() string { return fmt.Sprintf("%d private keys", len(i.ids)) }

// GoString returns the number of keys, so that no key is printed.
func (i *Identities) GoString() string { return i.String() }

// Len returns the number of keys.
func (i *Identities) Len() int { return len(i.ids) }

// Parse parses a file of keys: one key per line, and comments that begin with #. name is the name
// of the file in errors, which never contain a key.
func Parse(name, text string) (*Identities, error) {
	i := &Identities{}
	return i, i.parse(name, text, false)
}

// Find searches private keys where SOPS does: in SOPS_AGE_KEY, in the files in
// SOPS_AGE_KEY_FILE and SOPS_AGE_SSH_PRIVATE_KEY_FILE, in sops/age/keys.txt of the
// user's configuration, and in ~/.ssh. It does not run the command in
// SOPS_AGE_KEY_CMD and does not ask for a passphrase: then Problems has an entry.
// Source: github.com/getsops/sops/v3 v3.13 age, loadIdentities.
func Find(env func(string) string) *Identities {
	i := &Identities{}
	i.findSSH(env)
	if key := env("SOPS_AGE_KEY"); key != "" {
		i.note(i.parse("SOPS_AGE_KEY", key, true))
	} else {
		i.Looked = append(i.Looked, "SOPS_AGE_KEY")
	}
	if file := env("SOPS_AGE_KEY_FILE"); file != "" {
		i.file("SOPS_AGE_KEY_FILE", file, true)
	} else {
		i.Looked = append(i.Looked, "SOPS_AGE_KEY_FILE")
	}
	if env("SOPS_AGE_KEY_CMD") != "" {
		i.note(errors.New("SOPS_AGE_KEY_CMD: only sops runs this command: set SOPS_AGE_KEY to its output"))
	}
	if file := DefaultFile(env); file != "" {
		i.file("", file, false)
	}
	return i
}

func (i *Identities) note(err error) {
	if err != nil {
		i.Problems = append(i.Problems, err)
	}
}

// DefaultFile returns the file in which SOPS searches the user's keys; "" if the user has no home folder.
func DefaultFile(env func(string) string) string {
	dir := env("XDG_CONFIG_HOME")
	switch home := env("HOME"); {
	case runtime.GOOS == "windows":
		dir = env("AppData")
	case dir != "":
	case home == "":
		return ""
	case runtime.GOOS == "darwin":
		dir = filepath.Join(home, "Library", "Application Support")
	default:
		dir = filepath.Join(home, ".config")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "sops", "age", "keys.txt")
}

// sshNames are the names of the private keys in ~/.ssh.
var sshNames = []string{"id_ed25519", "id_rsa"}

func home(env func(string) string) string {
	if runtime.GOOS == "windows" {
		return env("USERPROFILE")
	}
	return env("HOME")
}

func (i *Identities) findSSH(env func(string) string) {
	if file := env("SOPS_AGE_SSH_PRIVATE_KEY_FILE"); file != "" {
		i.note(i.ssh(file, true))
	} else {
		i.Looked = append(i.Looked, "SOPS_AGE_SSH_PRIVATE_KEY_FILE")
	}
	home := home(env)
	if home == "" {
		return
	}
	for _, name := range sshNames {
		i.note(i.ssh(filepath.Join(home, ".ssh", name), false))
	}
}

// mostKeys is the maximum size of a file of keys, in bytes.
const mostKeys = 1 << 20

func readKeys(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, mostKeys+1))
	if err != nil {
		return "", err
	}
	if len(data) > mostKeys {
		return "", errors.New("the file is too long for a key file")
	}
	return string(data), nil
}

// named returns the name of a file in messages, with the variable that contains it, if any.
func named(by, file string) string {
	if by == "" {
		return file
	}
	return by + ": " + file
}

func (i *Identities) file(by, file string, needed bool) {
	text, err := readKeys(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !needed:
		i.Looked = append(i.Looked, file)
	case err != nil:
		i.note(fmt.Errorf("%s: %w", named(by, file), cause(err)))
	default:
		i.note(i.parse(named(by, file), text, false))
	}
}

// cause returns a file's error without the file's name.
func cause(err error) error {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err
	}
	return err
}

func (i *Identities) ssh(file string, needed bool) error {
	text, err := readKeys(file)
	if errors.Is(err, fs.ErrNotExist) && !needed {
		i.Looked = append(i.Looked, file)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, cause(err))
	}
	id, err := agessh.ParseIdentity([]byte(text))
	if locked := (*ssh.PassphraseMissingError)(nil); errors.As(err, &locked) {
		return fmt.Errorf("%s: the key has a passphrase, for which only sops asks", file)
	}
	if err != nil {
		return fmt.Errorf("%s: not an SSH private key that age supports (ed25519 or RSA)", file)
	}
	i.ids = append(i.ids, id)
	return nil
}

// parse adds the keys in a text: one per line, or, if many is set, one per word. It adds all or
// none.
func (i *Identities) parse(place, text string, many bool) error {
	if strings.HasPrefix(text, "age-encryption") || strings.HasPrefix(text, "-----BEGIN AGE") {
		return fmt.Errorf("%s: the keys have a passphrase, for which only sops asks", place)
	}
	before := *i
	number := 0
	for line := range strings.Lines(text) {
		number++
		words := []string{strings.TrimSpace(line)}
		if words[0] == "" || strings.HasPrefix(words[0], "#") {
			continue
		}
		if many {
			words = strings.Fields(line)
		}
		for _, word := range words {
			id, recipient, err := identity(word)
			if err != nil {
				i.ids, i.Recipients = before.ids, before.Recipients
				return fmt.Errorf("%s:%d: %w", place, number, err)
			}
			i.ids = append(i.ids, id)
			if recipient != "" {
				i.Recipients = append(i.Recipients, recipient)
			}
		}
	}
	if len(i.ids) == len(before.ids) {
		i.Looked = append(i.Looked, place)
	}
	return nil
}

// identity parses a private key. The error doesn't contain the key.
func identity(s string) (id age.Identity, recipient string, err error) {
	switch {
	case strings.HasPrefix(s, "AGE-PLUGIN-"):
		id, err := plugin.NewIdentity(s, noTerminal())
		if err != nil {
			return nil, "", errors.New("it is not a valid identity of an age plugin: a character is wrong")
		}
		return id, "", nil
	case strings.HasPrefix(s, "AGE-SECRET-KEY-PQ-1"):
		if id, err := age.ParseHybridIdentity(s); err == nil {
			return id, id.Recipient().String(), nil
		}
	case strings.HasPrefix(s, "AGE-SECRET-KEY-1"):
		if id, err := age.ParseX25519Identity(s); err == nil {
			return id, id.Recipient().String(), nil
		}
	case IsRecipient(s):
		return nil, "", errors.New("it is a public key: a private key begins with AGE-SECRET-KEY-1")
	default:
		return nil, "", errors.New("it is not an age private key, which begins with AGE-SECRET-KEY-1")
	}
	return nil, "", errors.New("it is not a valid age private key: a character is wrong or missing")
}

// ParseSSH parses the private key of an SSH key pair in PEM format.
func ParseSSH(name string, pem []byte) (*Identities, error) {
	id, err := agessh.ParseIdentity(bytes.TrimSpace(pem))
	if err != nil {
		return nil, fmt.Errorf("%s: not an SSH private key that age supports (ed25519 or RSA)", name)
	}
	return &Identities{ids: []age.Identity{id}}, nil
}

// And returns the identities of both.
func (i *Identities) And(other *Identities) *Identities {
	return &Identities{
		ids:        slices.Concat(i.ids, other.ids),
		Recipients: slices.Concat(i.Recipients, other.Recipients),
		Looked:     slices.Concat(i.Looked, other.Looked),
		Problems:   slices.Concat(i.Problems, other.Problems),
	}
}
