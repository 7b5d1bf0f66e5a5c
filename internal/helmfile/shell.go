package helmfile

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
)

// largestScript is the size, in bytes, of the largest script that is read, and mostParentheses the number of "(" in it: they bound
// the nesting that the parser follows.
const (
	largestScript   = 4 << 10
	mostParentheses = 50
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

// harmless are commands that write no file, unless [writesFile] says so.
var harmless = []string{"kubectl", "kustomize", "echo", "printf", "set", "sleep", "true", "cd"}

// script records the files that the commands of a shell apply or run. It returns the other words, and the text that it does not
// read.
func (h *Hook) script(at finding.Place, script string) (others []string) {
	dir := ""
	ran := false // whether a script ran, which may have written what is named after it
	pipelines, rest := simplePipelines(script)
	for _, pipeline := range pipelines {
		last := pipeline[len(pipeline)-1]
		for _, words := range pipeline {
			if ran {
				h.texts = append(h.texts, words...)
			}
			ran = ran || isPath(words[0])
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

// isPath reports whether a command is a file, with a path relative to the current folder.
func isPath(command string) bool { return strings.Contains(command, "/") && !path.IsAbs(command) }

// isApply reports whether a command is a kubectl command that reads the objects of files.
func isApply(words []string) bool {
	return words[0] == "kubectl" && slices.ContainsFunc(words, func(word string) bool { return slices.Contains(applying, word) })
}

// applying are the subcommands of kubectl that read the objects of files.
var applying = []string{"apply", "create", "replace"}

// built returns the folder whose kustomization a command builds; "" if it builds none.
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

// inFolder returns the path of a file that a command in a folder names.
func inFolder(dir, name string) string {
	if dir == "" || name == "" || name == "-" || path.IsAbs(name) || strings.Contains(name, "//") {
		return name
	}
	return path.Join(dir, name)
}

// simplePipelines returns the pipelines of a script, as the words of their commands, up to the first pipeline that is not simple:
// one with an expansion, a redirection, a condition or a subshell, or with a command that writes files and is no script. rest is the text from
// there on.
func simplePipelines(script string) (pipelines [][][]string, rest string) {
	if len(script) > largestScript || strings.Count(script, "(") > mostParentheses {
		return nil, script
	}
	script = ownName.ReplaceAllStringFunc(script, func(match string) string { return strings.ReplaceAll(match, " ", "") }) // one word each
	end, simple := uint(0), true
	var read func(s *syntax.Stmt)
	read = func(s *syntax.Stmt) {
		if and, ok := s.Cmd.(*syntax.BinaryCmd); ok && and.Op == syntax.AndStmt && isPlain(s) {
			read(and.X)
			if simple {
				read(and.Y)
			}
			return
		}
		var pipeline [][]string
		if pipeline, simple = simplePipeline(s); simple {
			pipelines, end = append(pipelines, pipeline), s.End().Offset()
		}
	}
	// An error of the syntax ends the simple part as any other statement does. The loop does not break: the parser may yield an
	// error after that, which Go forbids.
	for s, err := range syntax.NewParser().StmtsSeq(strings.NewReader(script)) {
		if simple = simple && err == nil; simple {
			read(s)
		}
	}
	return pipelines, script[min(int(end), len(script)):]
}

// isPlain reports whether a statement is neither negated nor in the background, and redirects nothing.
func isPlain(s *syntax.Stmt) bool {
	return !s.Negated && !s.Background && !s.Coprocess && len(s.Redirs) == 0
}

// simplePipeline returns the words of the commands of a pipeline, and whether the pipeline is simple.
func simplePipeline(s *syntax.Stmt) (pipeline [][]string, simple bool) {
	if !isPlain(s) {
		return nil, false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		left, first := simplePipeline(c.X)
		right, last := simplePipeline(c.Y)
		pipeline, simple = slices.Concat(left, right), c.Op == syntax.Pipe && first && last
	case *syntax.CallExpr:
		words := make([]string, 0, len(c.Args))
		for _, arg := range c.Args {
			word, plain := plainWord(arg.Parts)
			if !plain {
				return nil, false
			}
			words = append(words, word)
		}
		pipeline, simple = [][]string{words}, len(words) > 0 && len(c.Assigns) == 0 && isSimple(words)
	}
	return pipeline, simple && (len(pipeline) == 1 || !slices.ContainsFunc(pipeline, func(words []string) bool { return words[0] == "cd" }))
}

// isSimple reports whether it is known which files a command writes: a program that writes none, a script, which is read, or cd to
// a folder of the repository.
func isSimple(words []string) bool {
	switch {
	case words[0] == "cd":
		return len(words) == 2 && !path.IsAbs(words[1]) && !strings.HasPrefix(words[1], "-") && !strings.ContainsAny(words[1], "{~*?[")
	case isPath(words[0]):
		return !strings.ContainsAny(words[0], "=*?[")
	}
	return slices.Contains(harmless, words[0]) && !writesFile(words)
}

// writesFile reports whether a command of kubectl or kustomize writes a file.
func writesFile(words []string) bool {
	builds := len(words) > 1 && slices.Contains([]string{"kustomize build", "kubectl kustomize"}, words[0]+" "+words[1])
	return words[0] == "kustomize" && !builds || words[0] == "kubectl" && slices.Contains(words, "cp") ||
		builds && slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "-o") || strings.HasPrefix(word, "--output") })
}

// plainWord returns the word that some parts form, and whether neither the shell nor a template of helmfile replaces anything in it
// but the release's own name and namespace.
func plainWord(parts []syntax.WordPart) (word string, plain bool) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			word += p.Value
			if strings.ContainsAny(ownName.ReplaceAllString(p.Value, ""), `\{}`) {
				return "", false
			}
		case *syntax.SglQuoted:
			word += p.Value
			if p.Dollar {
				return "", false
			}
		case *syntax.DblQuoted:
			quoted, plain := plainWord(p.Parts)
			word += quoted
			if !plain || p.Dollar {
				return "", false
			}
		default:
			return "", false
		}
	}
	return word, !strings.Contains(ownName.ReplaceAllString(word, ""), "{{")
}
