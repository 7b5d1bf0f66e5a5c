// Command schemas generates the schemas that are embedded in package schemas:
// the CustomResourceDefinitions of Flux and the Flux Operator, and the built-in
// kinds of Kubernetes, one compressed file for each group, version and kind.
//
//	go -C tools/schemas run .
//
// The sources are Go modules (see sources.go), fetched by the go command and
// checked against the checksum database.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	download := flag.Bool("download", false, "download the sources, and write nothing")
	flag.Parse()
	if err := run(filepath.Join("..", "..", "schemas"), *download); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

// run replaces the data folder and the provenance file under dir, unless it only downloads the sources.
func run(dir string, download bool) error {
	files, err := generate()
	if err != nil || download {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, "data")); err != nil {
		return err
	}
	for name, content := range files {
		target := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, content, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%d files written to %s\n", len(files), dir)
	return nil
}
