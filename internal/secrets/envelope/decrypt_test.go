//go:build !peers

package envelope_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getsops/sops/v3/cmd/sops/formats"
	"github.com/getsops/sops/v3/decrypt"
)

// decrypted is what the library of sops makes of a text, with the keys of some peers and no other.
func decrypted(t *testing.T, file string, sealed []byte, all ...peer) []byte {
	t.Helper()
	for _, name := range []string{"SOPS_AGE_KEY", "SOPS_AGE_KEY_FILE", "SOPS_AGE_SSH_PRIVATE_KEY_FILE"} {
		t.Setenv(name, "")
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	home, env := homeOf(t, all)
	for _, each := range append(env, "HOME="+home, "XDG_CONFIG_HOME="+home) {
		name, value, _ := strings.Cut(each, "=")
		t.Setenv(name, value)
	}
	plain, err := decrypt.DataWithFormat(sealed, formats.FormatForPath(filepath.Base(file)))
	if err != nil {
		t.Fatalf("%v\n%s", err, sealed)
	}
	return plain
}
