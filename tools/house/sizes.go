package main

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// longFile is the maximum number of lines in a file.
const longFile = 500

// sizes returns the figures about the sizes of files.
func sizes(all []source) []figure {
	longest := figure{name: "lines of the longest file", maximum: new(longFile)}
	lines := figure{name: "lines of Go without tests"}
	for _, s := range all {
		for name, n := range s.lines {
			lines.value += n
			if n > longest.value {
				longest.value, longest.where = n, path.Join(s.path, name)
			}
		}
	}
	return []figure{longest, lines}
}

// products counts, for each product, the files outside its own packages that name it.
func products(all []source) []figure {
	var figures []figure
	for _, product := range []struct{ name, word string }{{"Kommander", "kommander"}, {"k0rdent", "k0rdent"}} {
		f := figure{name: "files that name " + product.name + ", outside of its packages"}
		for _, s := range all {
			if strings.Contains(strings.ToLower(s.path), product.word) || product.word == "k0rdent" && strings.Contains(s.path, "kcm") {
				continue
			}
			for name := range s.files {
				data, err := os.ReadFile(filepath.Join(s.dir, name))
				if err == nil && (strings.Contains(name, product.word) || bytes.Contains(bytes.ToLower(data), []byte(product.word))) {
					f.value++
				}
			}
		}
		figures = append(figures, f)
	}
	return figures
}

// pages returns the number of lines of the longest page of a rule.
func pages(root string) (figure, error) {
	f := figure{name: "lines of the longest page of a rule"}
	files, err := filepath.Glob(filepath.Join(root, "docs/rules/*.md"))
	if err != nil {
		return f, err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return f, err
		}
		if n := bytes.Count(data, []byte("\n")); n > f.value && filepath.Base(file) != "README.md" {
			f.value, f.where = n, filepath.Base(file)
		}
	}
	return f, nil
}
