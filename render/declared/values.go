package declared

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/fluxcd/pkg/ssh"
	"github.com/fluxcd/pkg/ssh/knownhosts"
	cryptossh "golang.org/x/crypto/ssh"
	cryptohosts "golang.org/x/crypto/ssh/knownhosts"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

// mostValue is the maximum size, in bytes, of all values of a Secret that the API server accepts.
const mostValue = 1 << 20

// values are the values of a Secret's keys, and the public keys of the private ones among them.
type values struct {
	data   map[string][]byte
	public map[string]string
}

// values returns the values of some keys of a Secret from their declared sources. The error lists everything
// that is missing.
func (s *syncer) values(d *v1alpha1.DeclaredSecret, wanted []string) (values, error) {
	v := values{data: map[string][]byte{}, public: map[string]string{}}
	var errs []error
	size := 0
	for _, k := range d.Keys {
		pair := k.From.SSHKeyPair != nil && slices.Contains(wanted, k.Name+v1alpha1.PublicSuffix)
		if !slices.Contains(wanted, k.Name) && !pair {
			continue
		}
		err := s.value(v, d, k)
		if err == nil && k.Name == "known_hosts" {
			err = checkHosts(v.data[k.Name], repositoryOf(s.read.Spec, d))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("key %q of Secret %s: %w", k.Name, d, err))
		}
		size += len(v.data[k.Name])
	}
	if size > mostValue {
		errs = append(errs, fmt.Errorf("the values of Secret %s are larger than %d MB, which Kubernetes does not accept", d, mostValue>>20))
	}
	return v, errors.Join(errs...)
}

// value adds one value.
func (s *syncer) value(v values, d *v1alpha1.DeclaredSecret, k v1alpha1.SecretKey) (err error) {
	switch from := k.From; {
	case from.Env != "":
		text, err := s.variable(from.Env)
		if err != nil {
			return err
		}
		v.data[k.Name] = []byte(text)
	case from.File != "":
		v.data[k.Name], err = s.readValue(from.File)
	case from.Generate != nil:
		v.data[k.Name], err = generate(*from.Generate)
	case from.AgeKey != nil:
		private, public, err := keys.Generate()
		if err != nil {
			return err
		}
		v.data[k.Name] = []byte("# public key: " + public + "\n" + private + "\n")
		v.public[k.Name] = public
	case from.SSHKeyPair != nil:
		if repository := repositoryOf(s.read.Spec, d); emit.ProviderOf(repository) == emit.Azure && from.SSHKeyPair.Algorithm != "rsa" {
			return advice.Input(fmt.Errorf("%s accepts only RSA keys, and this one is %s", emit.Azure, from.SSHKeyPair.Algorithm), "write algorithm: rsa into sshKeyPair")
		}
		pair, err := ssh.GenerateKeyPair(keyTypes[from.SSHKeyPair.Algorithm])
		if err != nil {
			return err
		}
		v.data[k.Name], v.data[k.Name+v1alpha1.PublicSuffix] = pair.PrivateKey, pair.PublicKey
		v.public[k.Name] = strings.TrimSpace(string(pair.PublicKey))
	}
	return err
}

// fileOf returns the path of a file that holds a value. A relative path is relative to the folder with the specification.
func (s *syncer) fileOf(name string) string {
	at := filepath.FromSlash(name)
	if !filepath.IsAbs(at) {
		at = filepath.Join(s.read.Root, at)
	}
	return at
}

// exists reports whether a file that holds a value exists, or cannot be looked up.
func (s *syncer) exists(name string) bool {
	_, err := os.Lstat(s.fileOf(name))
	return !errors.Is(err, fs.ErrNotExist)
}

// readValue reads a file that holds a value.
func (s *syncer) readValue(name string) (data []byte, err error) {
	at := s.fileOf(name)
	bad := func(err error) error {
		if p := (*fs.PathError)(nil); errors.As(err, &p) {
			err = p.Err
		}
		return advice.Input(fmt.Errorf("the file %s can't be read: %w", filepath.ToSlash(at), err), "relative paths start at the folder that contains fleet/")
	}
	if err := s.mayRead(at); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, bad(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, bad(err)
	}
	if !info.Mode().IsRegular() {
		return nil, bad(errors.New("it is not a regular file"))
	}
	data, err = io.ReadAll(io.LimitReader(f, mostValue+1))
	switch {
	case err != nil:
		return nil, bad(err)
	case len(data) == 0:
		return nil, bad(errors.New("it is empty"))
	case len(data) > mostValue:
		return nil, bad(fmt.Errorf("it is larger than %d MB", mostValue>>20))
	}
	return data, nil
}

// mayRead returns an error if a value must not come from a file, because the author of the specification, and
// those who can decrypt the Secret, may not be trusted. Hidden files and files of the system are read only if
// the user allows it. Other files outside the folder that contains fleet/ are read and reported. Files of git
// are never read.
func (s *syncer) mayRead(name string) error {
	if at, err := filepath.Abs(name); err != nil || ofGit(at) {
		return errors.Join(err, gitsOwn(name))
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		if real, err = filepath.Abs(real); err != nil || ofGit(real) {
			return errors.Join(err, gitsOwn(name))
		}
	}
	if s.options.Outside {
		return nil
	}
	root, err := filepath.EvalSymlinks(s.read.Root)
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return err
	}
	whole, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(whole); err == nil {
		whole = real
	}
	below, err := filepath.Rel(root, whole)
	if err == nil && filepath.IsLocal(below) {
		return nil
	}
	parts := strings.Split(filepath.ToSlash(below), "/")
	hidden := slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, ".") && part != ".." })
	system := slices.ContainsFunc([]string{"/etc/", "/proc/", "/sys/", "/dev/", "/run/"}, func(dir string) bool { return strings.HasPrefix(filepath.ToSlash(whole), dir) })
	if err != nil || hidden || system {
		return advice.Input(
			fmt.Errorf("refused to read %s, for which the specification asks: it is outside of the repository, in a place where programs keep private files", filepath.ToSlash(whole)),
			"check who wrote the specification, and who could decrypt the value; then allow it with --allow-outside, or copy the file",
		)
	}
	s.outside = append(s.outside, filepath.ToSlash(whole))
	return nil
}

// charsets are the character sets by their names in a specification.
var charsets = map[string]string{
	"alphanumeric": upper + lower + digits,
	"lowercase":    lower + digits,
	"letters":      upper + lower,
	"digits":       digits,
	"hex":          digits + "abcdef",
	"base64url":    upper + lower + digits + "-_",
	"printable":    upper + lower + digits + "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
}

const (
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
)

// generate returns a random string. Each character of the set is equally likely, because rand.Int has no modulo
// bias.
func generate(g v1alpha1.Generate) ([]byte, error) {
	set := charsets[g.Charset]
	if set == "" {
		return nil, fmt.Errorf("the charset %q is unknown", g.Charset)
	}
	text := make([]byte, g.Length)
	for i := range text {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(set))))
		if err != nil {
			return nil, err
		}
		text[i] = set[n.Int64()]
	}
	return text, nil
}

// keyTypes are the types of SSH key pairs by their names in a specification.
var keyTypes = map[string]ssh.KeyPairType{"ecdsa": ssh.ECDSA_P384, "ed25519": ssh.ED25519, "rsa": ssh.RSA_4096}

// checkHosts returns an error if the known_hosts of a Secret, which Flux reads a Git repository with, have no key of the
// repository's server. They are read as Flux does.
func checkHosts(hosts []byte, repository string) error {
	if !strings.HasPrefix(repository, "ssh://") {
		return nil
	}
	at, err := url.Parse(repository)
	if err != nil {
		return err
	}
	scan, port := at.Hostname(), "22"
	if at.Port() != "" {
		scan, port = "-p "+at.Port()+" "+at.Hostname(), at.Port()
	}
	scan = "the output of ssh-keyscan " + scan + ", and compare it with the keys that the provider publishes"
	check, _, err := knownhosts.New(hosts)
	if err != nil {
		return advice.Input(errors.New("its value has lines that are not known hosts"), "write "+scan)
	}
	other, err := cryptossh.NewPublicKey(make(ed25519.PublicKey, ed25519.PublicKeySize))
	if err != nil {
		return err
	}
	if unknown := (*cryptohosts.KeyError)(nil); errors.As(check(net.JoinHostPort(at.Hostname(), port), &net.TCPAddr{}, other), &unknown) && len(unknown.Want) == 0 {
		return advice.Input(
			fmt.Errorf("its value has no key of %s, from which Flux reads %s with this Secret", at.Host, repository),
			"add "+scan,
		)
	}
	return nil
}
