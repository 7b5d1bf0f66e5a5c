//go:build tools

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// scenario is one command that is killed repeatedly.
type scenario struct {
	counts
	name   string
	binary string
	dir    string
	random *rand.Rand
	want   int
	// most is the time limit, 0 for none.
	most time.Duration
	// usual is the time of a run that is not killed.
	usual time.Duration

	// prepare creates the folder.
	prepare func(*scenario) error
	// change prepares work for the command. args are its arguments.
	change func(*scenario) error
	args   []string
	env    []string
	// edit saves one of the files while a command runs, if it is set: in place, or under another name first.
	edit func(s *scenario, file int, inPlace bool) error
	// finish runs the command to its end, if it has to run more than once.
	finish func(*scenario) error
	// check checks the result.
	check func(*scenario) error
	// marks are the files that an interrupted command leaves.
	marks []string
}

func (s *scenario) run() (err error) {
	start := time.Now()
	defer func() { s.took = time.Since(start) }()
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	if err := s.prepare(s); err != nil {
		return err
	}
	for s.kills < s.want && (s.most == 0 || time.Since(start) < s.most) {
		if err := s.one(); err != nil {
			return err
		}
	}
	return nil
}

// one runs one series: a change, some kills, a run to the end, and the check.
func (s *scenario) one() error {
	s.series++
	if err := s.change(s); err != nil {
		return err
	}
	for range min(1+s.random.IntN(12), s.want-s.kills) {
		killed, err := s.kill()
		if err != nil {
			return err
		}
		if !killed {
			s.ended++
			if err := s.change(s); err != nil {
				return err
			}
			continue
		}
		s.kills++
		if s.marked() {
			s.cut++
		}
	}
	start := time.Now()
	if err := s.complete(); err != nil {
		return fmt.Errorf("the run after the kills: %w", err)
	}
	s.usual = (s.usual + time.Since(start)) / 2
	if s.marked() {
		return fmt.Errorf("a run that ended left %v", s.marks)
	}
	return s.check(s)
}

func (s *scenario) complete() error {
	if s.finish != nil {
		return s.finish(s)
	}
	return s.must(s.args...)
}

// kill starts the command and kills it, at any moment or soon after it has begun to write. It returns false if
// the command ended by itself.
func (s *scenario) kill() (bool, error) {
	cmd := s.command(s.args...)
	if err := cmd.Start(); err != nil {
		return false, err
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the state of the process has the result
		close(done)
	}()
	moment := time.Duration(s.random.Float64() * 1.1 * float64(s.usual))
	writing := s.random.IntN(3) > 0
	edited := s.editBeside()
	if writing {
		s.untilWriting(done)
		moment = time.Duration(s.random.ExpFloat64() * float64(3*time.Millisecond))
	}
	select {
	case <-done:
	case <-time.After(moment):
	}
	_ = cmd.Process.Kill() // it may have ended
	<-done
	return !cmd.ProcessState.Exited(), <-edited
}

// editBeside saves a file while the command runs, in one of four runs.
func (s *scenario) editBeside() <-chan error {
	edited := make(chan error, 1)
	if s.edit == nil || s.random.IntN(4) > 0 {
		edited <- nil
		return edited
	}
	s.edits++
	after := time.Duration(s.random.Float64() * float64(s.usual))
	file, place := s.random.IntN(1<<20), s.random.IntN(2) == 0
	go func() {
		time.Sleep(after)
		edited <- s.edit(s, file, place)
	}()
	return edited
}

// untilWriting waits until the command has begun to write, or has ended.
func (s *scenario) untilWriting(done <-chan struct{}) {
	for !s.marked() {
		select {
		case <-done:
			return
		case <-time.After(100 * time.Microsecond):
		}
	}
}

// marked reports whether an interrupted command left something.
func (s *scenario) marked() bool {
	for _, mark := range s.marks {
		if _, err := os.Lstat(filepath.Join(s.dir, mark)); err == nil {
			return true
		}
	}
	return false
}

func (s *scenario) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.binary, args...)
	cmd.Dir = s.dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_COMMITTER_DATE=1700000000 +0000",
	}, s.env...)
	return cmd
}

// must runs the command to its end, and returns an error if it fails.
func (s *scenario) must(args ...string) error {
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("fleetwright %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func (s *scenario) git(args ...string) (string, error) {
	cmd := s.command()
	git, err := exec.LookPath("git")
	if err != nil {
		return "", err
	}
	cmd.Path, cmd.Args = git, append([]string{"git"}, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// save saves a file as editors do: in place, or under another name first.
func (s *scenario) save(name, content string, inPlace bool) error {
	if inPlace {
		return os.WriteFile(filepath.Join(s.dir, filepath.FromSlash(name)), []byte(content), 0o644)
	}
	return s.write(name, content)
}

// write replaces a file atomically.
func (s *scenario) write(name, content string) error {
	name = filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	draft := filepath.Join(filepath.Dir(name), ".draft~")
	if err := os.WriteFile(draft, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(draft, name)
}

func (s *scenario) read(name string) (string, error) {
	content, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
	return string(content), err
}

// files returns the contents of all files in a folder, without .git.
func files(dir string) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git" && filepath.Dir(name) == dir:
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		content, err := os.ReadFile(name)
		below, relErr := filepath.Rel(dir, name)
		all[filepath.ToSlash(below)] = string(content)
		return errors.Join(err, relErr)
	})
	return all, err
}

// differ returns an error that says where two sets of files differ.
func differ(got, want map[string]string) error {
	for name, content := range want {
		if now, ok := got[name]; !ok {
			return fmt.Errorf("%s is missing", name)
		} else if now != content {
			return fmt.Errorf("%s is\n%s\nand not\n%s", name, now, content)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("%s is too much", name)
		}
	}
	return nil
}
