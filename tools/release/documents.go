package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
)

// documents returns the files that every archive contains: licence, README, man pages, completions.
func (r *release) documents(ctx context.Context, src *source, work string) ([]file, error) {
	var out []file
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		content, err := os.ReadFile(filepath.Join(src.dir, name))
		if err != nil {
			return nil, err
		}
		if name == "README.md" {
			content = pinText(content, r.version)
		}
		out = append(out, file{name, 0o644, content})
	}
	pages, err := src.pages()
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		name := manName(page)
		out = append(out, file{manFile(name), 0o644, manPage(name, r.number(), src.time.Format("January 2006"), string(text))})
	}
	// The completions do not depend on the platform, so the build for this machine prints them.
	binary := filepath.Join(work, runtime.GOOS+"-"+runtime.GOARCH, "fleetwright")
	for shell, name := range map[string]string{"bash": "fleetwright.bash", "zsh": "_fleetwright", "fish": "fleetwright.fish", "powershell": "fleetwright.ps1"} {
		text, err := command(ctx, work, nil, binary, "completion", shell)
		if err != nil {
			return nil, err
		}
		out = append(out, file{"completions/" + name, 0o644, []byte(text)})
	}
	return out, nil
}

// pages returns the paths of the pages of docs/cli, each of which becomes a man page.
func (s *source) pages() ([]string, error) {
	pages, err := filepath.Glob(filepath.Join(s.dir, "docs", "cli", "*.md"))
	if err == nil && len(pages) == 0 {
		err = errors.New("docs/cli holds no page")
	}
	return pages, err
}

// manName returns the name of the man page for a page of docs/cli, and manFile its path in an archive.
func manName(page string) string {
	return strings.ReplaceAll(strings.TrimSuffix(filepath.Base(page), ".md"), "_", "-")
}

func manFile(name string) string { return "man/man1/" + name + ".1" }

var links = regexp.MustCompile(`\[([^\]]+)\]\([a-z_]+\.md\)`)

// manPage converts a page of docs/cli to a man page.
func manPage(name, version, date, text string) []byte {
	title, rest, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
	short, rest, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	rest = strings.ReplaceAll(links.ReplaceAllString(rest, "**$1**"), "\n## ", "\n# ")
	if synopsis, description, ok := strings.Cut(rest, "\n```\n\n"); ok && !strings.HasPrefix(description, "# ") {
		rest = synopsis + "\n```\n\n# Description\n\n" + description
	}
	page := fmt.Sprintf("%% %q \"1\" %q %q\n\n# Name\n\n%s - %s\n\n# Synopsis\n%s", strings.ToUpper(name), date, "fleetwright "+version, strings.ReplaceAll(title, " ", "-"), short, rest)
	return md2man.Render([]byte(page))
}
