package testpeer

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// places are pairs of a string that differs from run to run, and its name in records.
type places []string

func (c Command) places() places {
	names := map[string]string{}
	add := func(text, name string) {
		if _, known := names[text]; !known && text != "" {
			names[text] = "${" + name + "}"
		}
	}
	for text, name := range c.Places {
		add(text, name)
	}
	add(c.Dir, "dir")
	add(c.Writes, "writes")
	for i, at := range c.Reads {
		if filepath.IsAbs(at) {
			add(at, fmt.Sprintf("read%d", i+1))
		}
	}
	var texts []string
	for text := range names {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) }) // a folder after its content
	var p places
	for _, text := range texts {
		p = append(p, text, names[text])
		if slashed := filepath.ToSlash(text); slashed != text {
			p = append(p, slashed, names[text])
		}
	}
	return p
}

// named replaces the strings by their names.
func (p places) named(s string) string { return strings.NewReplacer(p...).Replace(s) }

// real replaces the names by their strings.
func (p places) real(s string) string {
	reversed := slices.Clone(p)
	slices.Reverse(reversed)
	return strings.NewReplacer(reversed...).Replace(s)
}

// key returns the digest of all inputs of the command. It is the same on each machine.
func (c Command) key(t testing.TB) string {
	t.Helper()
	p := c.places()
	args := make([]string, len(c.Args))
	for i, arg := range c.Args {
		args[i] = filepath.ToSlash(p.named(arg))
	}
	inputs := []any{c.Tool, args, p.named(strings.Join(c.Env, "\x00")), p.named(c.Stdin), c.Calls}
	for i, at := range c.Reads {
		if !filepath.IsAbs(at) {
			at = filepath.Join(c.Dir, at)
		}
		for _, file := range filesIn(t, at) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(at, file)
			if err != nil {
				t.Fatal(err)
			}
			inputs = append(inputs, i, filepath.ToSlash(rel), sha256.Sum256([]byte(p.named(string(content)))))
		}
	}
	text, err := json.Marshal(inputs)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:32]
}

// filesIn returns the files in a folder, or the file itself.
func filesIn(t testing.TB, at string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// temporary matches files with random names.
var temporary = regexp.MustCompile(`\$\{home\}/tmp/[^\s"':]*`)

// printed returns an output in the form of records.
func (p places) printed(s string) string {
	return temporary.ReplaceAllString(p.named(s), "$${home}/tmp/…")
}
