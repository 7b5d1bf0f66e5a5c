package keys_test

import (
	"testing"
	"testing/cryptotest"

	"filippo.io/age"

	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

func TestIsRecipient(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]bool{
		id.Recipient().String():     true,
		hybrid.Recipient().String(): true,
		"age1yubikey1q2w7u3vpya839jxxuq8g0sedh3d740d4xvn639sqhr95ejj8vu3hyfumptt": true,
		id.String():                              false, // a private key
		"age1":                                   false,
		"":                                       false,
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIL": false,
	} {
		if got := keys.IsRecipient(s); got != want {
			t.Errorf("IsRecipient(%.12q…) = %v", s, got)
		}
	}
}
