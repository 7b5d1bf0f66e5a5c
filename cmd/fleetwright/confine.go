package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/cache"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

// confinement describes the sandbox of a command. A command enters it after the process has restarted itself.
// The zero value allows no connections and no changes of files, and allows reading only what the command line
// names.
type confinement struct {
	// with is the flag with which the command is sandboxed; "" means always.
	with string
	// connects allows connections. anywhere allows reading all files.
	connects, anywhere bool
	// reads returns other files that the command may read. changes returns the folders in which it may change
	// files.
	reads   func(line commandLine) []string
	changes func(line commandLine) []string
}

// confinements are the sandboxed commands. fn is not among them, because its functions differ. docs/security.md
// has the same table.
var confinements = map[string]confinement{
	"bootstrap plan":   {},
	"bootstrap values": {},
	"bootstrap verify": {},
	"build":            {},
	"diff":             {},
	"explain":          {},
	"images":           {},
	"schema":           {},
	"schemas":          {},
	"secrets check":    {},
	"secrets verify":   {reads: verifyReads},
	"validate":         {changes: validateChanges},
	"render":           {with: "check", changes: renderChanges},
	// Git's own configuration may include files anywhere, and a target may be anywhere.
	"commit": {with: "dry-run", connects: true, anywhere: true, changes: temporary},
	// Declared Secrets may come from files outside the repository, which the check reads.
	"secrets sync":       {with: "check", anywhere: true},
	"secrets updatekeys": {with: "check", anywhere: true},
}

// commandLine is the command that was called, with its arguments.
type commandLine struct {
	command *cobra.Command
	args    []string
	env     func(string) string
}

// confine restricts the process to the sandbox of the command, if it has one.
func (l commandLine) confine() {
	name := strings.TrimPrefix(l.command.CommandPath(), l.command.Root().Name()+" ")
	c, ok := confinements[name]
	if !ok || c.with != "" && l.flag(c.with) != "true" {
		return
	}
	bounds.Confine(func() bounds.Confinement {
		to := bounds.Confinement{Connects: c.connects}
		if !c.anywhere {
			to.Reads = l.reads()
		}
		if c.reads != nil {
			to.Reads = append(to.Reads, c.reads(l)...)
		}
		if c.changes != nil {
			to.Changes = c.changes(l)
		}
		return to
	})
}

// flag returns the value of a flag, "" if it is not set.
func (l commandLine) flag(name string) string {
	if f := l.command.Flags().Lookup(name); f != nil && f.Changed {
		return f.Value.String()
	}
	return ""
}

// dir returns the folder that the command works on, and whether the command line names it.
func (l commandLine) dir() (dir string, named bool) {
	at := slices.Index(strings.Fields(l.command.Use), "[DIR]") - 1
	if at >= 0 && at < len(l.args) {
		return l.args[at], true
	}
	return ".", at < 0 // a command without one is about the working directory
}

// reads returns the files and folders that the command line names, and Git's own folders for them.
func (l commandLine) reads() []string {
	dir, named := l.dir()
	all := append([]string{dir}, l.args...)
	if fetched, err := cache.Folder(l.env); err == nil {
		all = append(all, fetched)
	}
	if root, _, ok := gitrepo.Within(dir); ok && !named {
		all = append(all, root) // see repositoryFolder
	}
	l.command.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			all = append(all, value, value[strings.IndexByte(value, '=')+1:])
		}
	})
	there := map[string]bool{}
	for _, path := range all {
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		there[path] = true
		for _, folder := range gitrepo.Folders(path) {
			there[folder] = true
		}
	}
	return slices.Sorted(maps.Keys(there))
}

// verifyReads returns the .sops.yaml files above the folder and, with --decrypt, the files with private keys.
func verifyReads(l commandLine) []string {
	var all []string
	dir, _ := l.dir()
	whole, err := filepath.Abs(dir)
	for at := whole; err == nil; at = filepath.Dir(at) {
		all = append(all, filepath.Join(at, secrets.ConfigName))
		if at == filepath.Dir(at) {
			break
		}
	}
	if l.flag("decrypt") == "true" {
		all = append(all, keys.Files(l.env)...)
	}
	return all
}

// validateChanges returns the folders in which validate writes: the repository's with --fix, and the baseline's
// with --write-baseline.
func validateChanges(l commandLine) []string {
	var all []string
	if l.flag("fix") == "true" {
		dir, _ := l.dir()
		all = append(all, dir)
	}
	if name := l.flag("write-baseline"); name != "" {
		all = append(all, filepath.Dir(name))
	}
	return all
}

// renderChanges returns the folder for temporary files if Flux's manifests are read, because Flux's library
// writes there.
func renderChanges(l commandLine) []string {
	if l.flag("flux-manifests") == "" {
		return nil
	}
	return temporary(l)
}

func temporary(commandLine) []string { return []string{os.TempDir()} }
