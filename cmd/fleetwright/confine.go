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
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

// confinement says how a command is confined once it has started again. The zero value opens no connection,
// changes nothing, and reads what the command line names.
type confinement struct {
	// with is the flag with which alone the command is confined; "" is always.
	with string
	// connects says that it opens connections, and anywhere that it reads all files.
	connects, anywhere bool
	// reads and changes are what it reads beside that, and the folders in which it changes files.
	reads   func(line commandLine) []string
	changes func(line commandLine) []string
}

// confinements are the commands that are confined, but for fn, whose functions differ; docs/security.md
// has the same table.
var confinements = map[string]confinement{
	"bootstrap plan":   {},
	"bootstrap values": {},
	"bootstrap verify": {},
	"build":            {},
	"diff":             {},
	"explain":          {},
	"schema":           {},
	"secrets check":    {},
	"secrets verify":   {reads: verifyReads},
	"validate":         {changes: validateChanges},
	"render":           {with: "check", changes: renderChanges},
	// Git's own configuration may include files anywhere, and a target may be elsewhere.
	"commit": {with: "dry-run", connects: true, anywhere: true, changes: temporary},
	// What a specification declares may come from files outside, which are looked at.
	"secrets sync":       {with: "check", anywhere: true},
	"secrets updatekeys": {with: "check", anywhere: true},
}

// commandLine is what a command was called with.
type commandLine struct {
	command *cobra.Command
	args    []string
	env     func(string) string
}

// confine lets the process do less once it has started again, where the command is one of those.
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

// flag is the value of a flag, "" for one that is not set.
func (l commandLine) flag(name string) string {
	if f := l.command.Flags().Lookup(name); f != nil && f.Changed {
		return f.Value.String()
	}
	return ""
}

// dir is the folder that the command is about, and whether the command line names it.
func (l commandLine) dir() (dir string, named bool) {
	at := slices.Index(strings.Fields(l.command.Use), "[DIR]") - 1
	if at >= 0 && at < len(l.args) {
		return l.args[at], true
	}
	return ".", at < 0 // a command without one is about the working directory
}

// reads are the files and folders that the command line names, and Git's own folders for them.
func (l commandLine) reads() []string {
	dir, named := l.dir()
	all := append([]string{dir}, l.args...)
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

// verifyReads are the .sops.yaml above the folder, and with --decrypt the files of private keys.
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

// validateChanges are the folder of the repository with --fix, and that of the baseline that is written.
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

// renderChanges is the folder of temporary files where Flux's manifests are read: Flux's library writes there.
func renderChanges(l commandLine) []string {
	if l.flag("flux-manifests") == "" {
		return nil
	}
	return temporary(l)
}

func temporary(commandLine) []string { return []string{os.TempDir()} }
