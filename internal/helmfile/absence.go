package helmfile

import (
	"fmt"
	"path"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// largestProgram is the size, in bytes, of the largest script of a hook that is searched for the files that it may write.
const largestProgram = 64 << 10

// present returns why a file that Git does not have may be there all the same when helmfile needs it; "" if it is certainly absent.
// Hooks are those of the helmfile, which run before or between its releases; nil if the file is read before all hooks.
func (r *reader) present(p string, hooks *mentions) string {
	switch by := r.written().By(p); {
	case by != "":
		return by + " writes"
	case !r.repo.Lacks(p):
		return "is not in Git, but may be on the disk"
	case hooks.name(p, r.repo):
		return "a hook may write"
	}
	return ""
}

// readValues reads a values file. Of one that does not exist but may be there for helmfile, the content is unknown.
func (e *evaluation) readValues(p string) ([]byte, located.Unknown) {
	data, bad := e.Read(p)
	if bad.Missing != "" {
		if why := e.present(p, e.mentioned(e.h)); why != "" {
			delete(e.Reads, p)
			bad = valuesFrom(p, why)
		}
	}
	return data, bad
}

func valuesFrom(p, why string) located.Unknown {
	return located.Unknown{Reason: fmt.Sprintf("values come from %s, which %s", p, why)}
}

// mentions are the words in the commands of a helmfile's hooks, and in the scripts that these run: they may write a file whose name
// or folder they mention.
type mentions struct {
	dir   string // of the helmfile
	words map[string]bool
	// any says that a script is not read: it may write any file.
	any bool
}

// name reports whether the hooks mention a file, or a folder of it that is below the helmfile's and not in Git.
func (m *mentions) name(p string, repo *repository.Repository) bool {
	if m == nil || m.any {
		return m != nil
	}
	if m.words[path.Base(p)] {
		return true
	}
	for dir := path.Dir(p); dir != "." && repository.Within(m.dir, dir); dir = path.Dir(dir) {
		if _, exists := repo.ReadDir(dir); exists {
			break
		}
		if m.words[path.Base(dir)] {
			return true
		}
	}
	return false
}

// mentioned returns what the hooks of a helmfile mention, of whichever release or template they are.
func (r *reader) mentioned(h *helmfile) *mentions {
	if h.mentions != nil {
		return h.mentions
	}
	h.mentions = &mentions{dir: h.dir, words: map[string]bool{}}
	seen := map[string]bool{}
	add := func(hooks []Hook) {
		for _, hook := range hooks {
			for _, text := range hook.texts {
				addWords(h.mentions.words, text)
			}
			for _, script := range hook.runs {
				p := path.Join(h.dir, script)
				if seen[p] {
					continue
				}
				seen[p] = true
				words, known := r.scriptWords(p)
				for _, word := range words {
					h.mentions.words[word] = true
				}
				h.mentions.any = h.mentions.any || !known || strings.Contains(script, "{{")
			}
		}
	}
	add(h.hooks)
	for _, release := range h.releases {
		add(release.hooks)
	}
	for _, template := range h.templates {
		add(template.hooks)
	}
	return h.mentions
}

// scriptWords returns the words of a script, which is read once; known is false if it is too large.
func (r *reader) scriptWords(p string) (words []string, known bool) {
	if words, done := r.scripts[p]; done {
		return words, words != nil
	}
	data, _ := r.repo.ReadFile(p) // one that does not exist writes nothing
	if len(data) <= largestProgram {
		set := map[string]bool{}
		addWords(set, string(data))
		words = make([]string, 0, len(set))
		for word := range set {
			words = append(words, word)
		}
	}
	r.scripts[p] = words
	return words, words != nil
}

func addWords(words map[string]bool, text string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return separates(r) || strings.ContainsRune("{}[]$\\\r", r) }) {
		words[word] = true
	}
}
