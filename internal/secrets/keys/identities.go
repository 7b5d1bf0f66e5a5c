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

// Identities are private keys. They never print themselves.
type Identities struct {
	ids []age.Identity
	// Recipients are the public keys of those whose private key tells it: not of a
	// plugin's, nor of SSH's.
	Recipients []string
	// Looked are the places that hold no key.
	Looked []string
	// Problems are places whose keys can't be read, and why, each naming its place.
	Problems []error
}

// String keeps keys out of what is printed.
func (i *Identities) String() string { return fmt.Sprintf("%d private keys", len(i.ids)) }

// GoString keeps keys out of what is printed.
func (i *Identities) GoString() string { return i.String() }

// Len is the number of keys.
func (i *Identities) Len() int { return len(i.ids) }

// Parse reads the text of a file of keys: one a line, and comments that begin with #.
// The name stands for the file in errors, which never hold a key.
func Parse(name, text string) (*Identities, error) {
	i := &Identities{}
	return i, i.parse(name, text, false)
}

// Find looks for private keys where SOPS does: in SOPS_AGE_KEY, in the files that
// SOPS_AGE_KEY_FILE and SOPS_AGE_SSH_PRIVATE_KEY_FILE name, in sops/age/keys.txt of the
// user's configuration, and in ~/.ssh. Keys that a command prints
// (SOPS_AGE_KEY_CMD) are not asked for, nor is a passphrase: Problems says so.
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
		i.note(errors.New("SOPS_AGE_KEY_CMD: only sops runs it: put what it prints into SOPS_AGE_KEY"))
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

// DefaultFile is the file in which SOPS looks for the user's keys, "" where there is no
// home.
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

// Files are the files that Find may read.
func Files(env func(string) string) []string {
	all := []string{env("SOPS_AGE_KEY_FILE"), env("SOPS_AGE_SSH_PRIVATE_KEY_FILE"), DefaultFile(env)}
	for _, name := range sshNames {
		all = append(all, filepath.Join(home(env), ".ssh", name))
	}
	return all
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

// mostKeys is how long a file of keys may be, in bytes.
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
		return "", errors.New("it is too long for a file of keys")
	}
	return string(data), nil
}

// named is the place of a file that a variable may name.
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

// cause is an error of a file without the file's name.
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
		return fmt.Errorf("%s: the key is locked with a passphrase, which only sops asks for", file)
	}
	if err != nil {
		return fmt.Errorf("%s: it is no private key of SSH that age knows: ed25519 or RSA", file)
	}
	i.ids = append(i.ids, id)
	return nil
}

// parse adds the keys of a text: one a line, or where many stand on a line, a word. All or
// none are added.
func (i *Identities) parse(place, text string, many bool) error {
	if strings.HasPrefix(text, "age-encryption") || strings.HasPrefix(text, "-----BEGIN AGE") {
		return fmt.Errorf("%s: the keys are locked with a passphrase, which only sops asks for", place)
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

// identity reads a private key. The error doesn't hold it.
func identity(s string) (id age.Identity, recipient string, err error) {
	switch {
	case strings.HasPrefix(s, "AGE-PLUGIN-"):
		id, err := plugin.NewIdentity(s, noTerminal())
		if err != nil {
			return nil, "", errors.New("it is no identity of a plugin of age: a letter is wrong")
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
		return nil, "", errors.New("it is a public key: a private one begins with AGE-SECRET-KEY-1")
	default:
		return nil, "", errors.New("it is no private key of age, which begins with AGE-SECRET-KEY-1")
	}
	return nil, "", errors.New("it is no private key of age: a letter is wrong, or missing")
}

// ParseSSH reads the private key of an SSH key pair, in PEM.
func ParseSSH(name string, pem []byte) (*Identities, error) {
	id, err := agessh.ParseIdentity(bytes.TrimSpace(pem))
	if err != nil {
		return nil, fmt.Errorf("%s: it is no private key of SSH that age knows: ed25519 or RSA", name)
	}
	return &Identities{ids: []age.Identity{id}}, nil
}

// And are the keys of both.
func (i *Identities) And(other *Identities) *Identities {
	return &Identities{
		ids:        slices.Concat(i.ids, other.ids),
		Recipients: slices.Concat(i.Recipients, other.Recipients),
		Looked:     slices.Concat(i.Looked, other.Looked),
		Problems:   slices.Concat(i.Problems, other.Problems),
	}
}
