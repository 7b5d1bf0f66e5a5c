//go:build tools

package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/envelope"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

// pair is two keys: the first opens all files, the second is added and removed.
type pair struct{ private, public [2]string }

func (p *pair) make() (err error) {
	for i := range p.private {
		if p.private[i], p.public[i], err = keys.Generate(); err != nil {
			return err
		}
	}
	return nil
}

// rules returns a .sops.yaml for the first key, or for both.
func (p *pair) rules(readers int) string {
	return "creation_rules:\n- path_regex: \\.sops\\.yaml$\n  encrypted_regex: ^(data|stringData)$\n  age: " + strings.Join(p.public[:readers], ",") + "\n"
}

func (p *pair) seal(file, content string, readers int) (string, error) {
	config, err := secrets.ParseConfig(secrets.ConfigName, []byte(p.rules(readers)))
	if err != nil {
		return "", err
	}
	out, err := envelope.Encrypt(file, []byte(content), config.For(file), time.Unix(1_700_000_000, 0).UTC())
	return string(out), err
}

// opens returns an error unless each file is encrypted to the number of readers and has the value that was
// saved last.
func (p *pair) opens(s *scenario, f *sealedFiles, readers int) error {
	for _, name := range f.names {
		plain, err := p.open(s, name)
		if err != nil {
			return err
		}
		if !strings.Contains(plain, f.values[name]+"\n") {
			return fmt.Errorf("%s holds\n%s\nand %s was saved last", name, plain, f.values[name])
		}
		content, err := s.read(name)
		if err != nil {
			return err
		}
		if got := strings.Count(content, "recipient: age1"); got != readers {
			return fmt.Errorf("%s has %d readers and not %d", name, got, readers)
		}
	}
	return nil
}

func (p *pair) open(s *scenario, name string) (string, error) {
	ids, err := keys.Parse("the soak's", p.private[0])
	if err != nil {
		return "", err
	}
	content, err := s.read(name)
	if err != nil {
		return "", err
	}
	plain, err := envelope.Decrypt(name, []byte(content), ids)
	return string(plain), err
}

// declared returns an error unless all declared Secrets have their keys. It also returns the value that was
// generated.
func (p *pair) declared(s *scenario, second bool) (made string, err error) {
	all, err := files(s.dir)
	if err != nil {
		return "", err
	}
	found := 0
	for name := range all {
		base := path.Base(name)
		if !strings.HasSuffix(base, ".sops.yaml") || base == ".sops.yaml" {
			continue
		}
		found++
		plain, err := p.open(s, name)
		if err != nil {
			return "", err
		}
		var object struct {
			Data, StringData map[string]string
		}
		if err := yaml.Unmarshal([]byte(plain), &object); err != nil {
			return "", err
		}
		var have []string
		for _, values := range []map[string]string{object.Data, object.StringData} {
			for key, value := range values {
				have = append(have, key)
				if key == "password" {
					made = value
				}
			}
		}
		slices.Sort(have)
		if want := declaredKeys(base, second); !slices.Equal(have, want) {
			return "", fmt.Errorf("%s has the keys %v and not %v", name, have, want)
		}
	}
	if found != 7 || made == "" {
		return "", fmt.Errorf("%d of 7 declared Secrets are there", found)
	}
	return made, nil
}
