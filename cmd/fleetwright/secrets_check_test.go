package main

import (
	"os"

	"filippo.io/age"
	"github.com/rogpeppe/go-internal/testscript"
)

// ageKey makes a key of age: agekey NAME writes NAME.agekey and puts the
// recipient into the variable NAME.
func ageKey(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: agekey NAME")
	}
	id, err := age.GenerateX25519Identity()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".agekey"), []byte(id.String()+"\n"), 0o600))
	ts.Setenv(args[0], id.Recipient().String())
}
