package helmfile

import (
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
)

// shellScript returns the place of the script among the arguments of a shell: the index of the file that it runs, or of the
// commands after -c; -1 if it has none.
func shellScript(args []located.Text) (at int, commands bool) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i].Value; {
		case !strings.HasPrefix(arg, "-"):
			return i, commands
		case strings.HasPrefix(arg, "--"):
			return -1, false
		default:
			commands = commands || strings.Contains(arg, "c")
			if strings.HasSuffix(arg, "o") {
				i++ // the name of an option
			}
		}
	}
	return -1, false
}

// harmless are commands of which it is known that they write no file.
var harmless = []string{"kubectl", "kustomize", "echo", "printf", "set", "sleep", "true", "cd"}

// script notes the files that the commands of a shell apply or run, and returns the words of others and what is not read.
func (h *Hook) script(at finding.Place, script string) (others []string) {
	dir := ""
	pipelines, rest := simpleCommands(script)
	for _, pipeline := range pipelines {
		last := pipeline[len(pipeline)-1]
		for _, words := range pipeline {
			args := make([]located.Text, 0, len(words))
			for _, word := range words[1:] {
				args = append(args, located.Text{Place: at, Value: word})
			}
			switch {
			case words[0] == "cd":
				dir = path.Join(dir, words[1])
			case isPath(words[0]):
				h.Scripts = append(h.Scripts, located.Text{Place: at, Value: inFolder(dir, words[0])})
				others = append(others, words[1:]...)
			case built(words) != "" && isApply(last):
				h.Applied = append(h.Applied, located.Text{Place: at, Value: inFolder(dir, built(words))})
			default:
				others = append(others, h.kubectl(dir, words[0], args)...)
			}
		}
	}
	return append(others, rest)
}

// isPath says whether a command is a file that is relative to the current folder.
func isPath(command string) bool { return strings.Contains(command, "/") && !path.IsAbs(command) }

func isApply(words []string) bool {
	return words[0] == "kubectl" && slices.ContainsFunc(words, func(word string) bool { return slices.Contains(applying, word) })
}

// applying are the commands of kubectl that read the objects of files.
var applying = []string{"apply", "create", "replace"}

// built is the folder that a command prints the kustomization of, "" for none.
func built(words []string) string {
	if len(words) < 3 || !slices.Contains([]string{"kustomize build", "kubectl kustomize"}, words[0]+" "+words[1]) {
		return ""
	}
	folders := slices.DeleteFunc(slices.Clone(words[2:]), func(word string) bool { return strings.HasPrefix(word, "-") })
	if len(folders) != 1 {
		return "" // the value of a flag
	}
	return folders[0]
}

// inFolder is a file that a command in a folder names.
func inFolder(dir, name string) string {
	if dir == "" || name == "" || name == "-" || path.IsAbs(name) || strings.Contains(name, "//") {
		return name
	}
	return path.Join(dir, name)
}

// simpleCommands reads the commands of a script up to the first pipeline that is not simple: one with an expansion, a
// redirection, a condition or a subshell, or with a command that may write files. rest is what is not read.
func simpleCommands(script string) (pipelines [][][]string, rest string) {
	for rest = script; strings.TrimSpace(rest) != ""; {
		pipeline, after, simple := simplePipeline(rest)
		if !simple {
			return pipelines, rest
		}
		if len(pipeline) > 0 {
			pipelines = append(pipelines, pipeline)
		}
		rest = after
	}
	return pipelines, ""
}

// simplePipeline reads the first pipeline of a script, and says whether it is simple.
func simplePipeline(script string) (pipeline [][]string, after string, simple bool) {
	var words []string
	for i := 0; ; {
		if i == len(script) || script[i] == '\n' || script[i] == ';' || strings.HasPrefix(script[i:], "&&") {
			if len(words) > 0 {
				pipeline = append(pipeline, words)
			}
			after = strings.TrimPrefix(strings.TrimPrefix(script[i:], "&"), "&")
			if after == script[i:] && after != "" {
				after = after[1:]
			}
			return pipeline, after, !slices.ContainsFunc(pipeline, func(words []string) bool { return !isSimple(words, len(pipeline)) })
		}
		switch c := script[i]; {
		case c == ' ' || c == '\t':
			i++
		case strings.HasPrefix(script[i:], "\\\n"):
			i += 2
		case c == '#':
			i += len(script[i:])
			if end := strings.IndexByte(script[:i], '\n'); end >= 0 {
				i = end
			}
		case c == '|' && len(words) > 0 && !strings.HasPrefix(script[i:], "||"):
			pipeline, words = append(pipeline, words), nil
			i++
		default:
			word, length := simpleWord(script[i:])
			if length == 0 {
				return nil, "", false
			}
			words = append(words, word)
			i += length
		}
	}
}

func isSimple(words []string, of int) bool {
	switch {
	case words[0] == "cd":
		return of == 1 && len(words) == 2 && !path.IsAbs(words[1]) && !strings.HasPrefix(words[1], "-") && !strings.ContainsAny(words[1], "{~*?[")
	case isPath(words[0]):
		return !strings.ContainsAny(words[0], "=*?[")
	}
	return slices.Contains(harmless, words[0])
}

// simpleWord reads the word that a text begins with, and its length, 0 if the shell replaces something in it.
func simpleWord(text string) (word string, length int) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case strings.IndexByte(" \t\n;|&", c) >= 0:
			return word, i
		case strings.HasPrefix(text[i:], "{{"):
			at := ownName.FindStringIndex(text[i:])
			if at == nil || at[0] != 0 {
				return "", 0
			}
			word += text[i : i+at[1]]
			i += at[1]
		case c == '\'' || c == '"':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return "", 0
			}
			quoted := text[i+1 : i+1+end]
			if c == '"' && strings.ContainsAny(quoted, "$`\\") || strings.Contains(ownName.ReplaceAllString(quoted, ""), "{{") {
				return "", 0
			}
			word += quoted
			i += end + 2
		case strings.IndexByte("$`\\<>(){}!", c) >= 0:
			return "", 0
		default:
			word += string(c)
			i++
		}
	}
	return word, len(text)
}
