//go:build tools

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

// manySecrets is the number of files that are encrypted.
const manySecrets = 1000

// secrets measures encrypting, rotating and verifying many files, compared with the sops command once for each
// file.
func secrets(binary, sops, work string) {
	dir := filepath.Join(work, "secrets")
	private, public, err := keys.Generate()
	check(err)
	check(os.Setenv("SOPS_AGE_KEY", private))
	plain := writeSecrets(dir, public)
	fmt.Printf("\n| %d Secrets | wall | against `sops` once for each file | peak memory |\n|---|---|---|---|\n", manySecrets)
	row := func(name string, ours sample, theirs time.Duration) {
		fmt.Printf("| %s | %s | %.1f× faster | %d MB |\n", name, ms(ours.wall), ratio(theirs, ours.wall), ours.rss>>20)
	}

	theirs := forEach(manySecrets, dir, sops, func(i int) []string { return []string{"encrypt", "--in-place", secretFile(i)} })
	for i := range few {
		check(os.WriteFile(filepath.Join(dir, secretFile(i)), plain, 0o644))
	}
	row("`secrets encrypt`, against `sops encrypt`", once(nil, dir, binary, "secrets", "encrypt"), theirs)

	theirs = forEach(manySecrets, dir, sops, func(i int) []string { return []string{"decrypt", secretFile(i)} })
	row("`secrets verify`, against `sops decrypt`", measure(3, nil, dir, binary, "secrets", "verify"), theirs)
	row("`secrets verify --decrypt`, against `sops decrypt`", measure(3, nil, dir, binary, "secrets", "verify", "--decrypt"), theirs)

	theirs = forEach(manySecrets, dir, sops, func(i int) []string { return []string{"rotate", "--in-place", secretFile(i)} })
	row("`secrets updatekeys --rotate`, against `sops rotate`", once(nil, dir, binary, "secrets", "updatekeys", "--rotate"), theirs)
	theirs = forEach(manySecrets, dir, sops, func(i int) []string { return []string{"updatekeys", "--yes", secretFile(i)} })
	row("`secrets updatekeys`, nothing to change, against `sops updatekeys`", measure(3, nil, dir, binary, "secrets", "updatekeys"), theirs)
}

func secretFile(i int) string { return fmt.Sprintf("apps/app-%d/secret.sops.yaml", i) }

// writeSecrets writes plaintext files, and a .sops.yaml for a recipient.
func writeSecrets(dir, public string) []byte {
	text := []byte("apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: apps\nstringData:\n  username: app\n  password: hunter2-hunter2-hunter2\n  url: postgres://app:hunter2@db.example.com/app\n")
	for i := range manySecrets {
		file := filepath.Join(dir, secretFile(i))
		check(os.MkdirAll(filepath.Dir(file), 0o755))
		check(os.WriteFile(file, text, 0o644))
	}
	rule := "creation_rules:\n  - path_regex: \\.sops\\.yaml$\n    encrypted_regex: ^(data|stringData)$\n    mac_only_encrypted: true\n    age: " + public + "\n"
	check(os.WriteFile(filepath.Join(dir, ".sops.yaml"), []byte(rule), 0o644))
	return text
}
