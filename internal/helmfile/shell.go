package helmfile

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/syntax"

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
		case !strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "+"):
			return i, commands
		case strings.HasPrefix(arg, "--"):
			return -1, false
		default:
			commands = commands || strings.Contains(arg, "c")
			i += strings.Count(arg, "o") + strings.Count(arg, "O") // the name of an option each
		}
	}
	return -1, false
}

// harmless are commands that write no file, unless [writesFile] says so.
var harmless = []string{"kubectl", "kustomize", "echo", "printf", "set", "sleep", "true", "cd"}

// script records the files that the commands of a shell apply or run. It returns the other words, and the text that it does not
// read.
func (h *Hook) script(n *yaml.Node) (others []string) {
	dir := ""
	ran := false // whether a script ran, which may have written what is named after it
	pipelines, rest := simplePipelines(h.File, n)
	for _, pipeline := range pipelines {
		last := pipeline[len(pipeline)-1]
		for _, words := range pipeline {
			command := words[0]
			if ran {
				for _, word := range words {
					h.texts = append(h.texts, word.Value)
				}
			}
			if isPath(command.Value) {
				ran = true
				h.Scripts = append(h.Scripts, located.Text{Place: command.Place, Value: inFolder(dir, command.Value)})
			}
			switch folder := built(words); {
			case command.Value == "cd":
				dir = path.Join(dir, words[1].Value)
			case folder.Value != "" && isApply(last):
				h.apply(dir, true, folder)
			default:
				others = append(others, h.kubectl(dir, words)...)
			}
		}
	}
	return append(others, rest)
}

// isPath reports whether a command is a file, with a path relative to the current folder.
func isPath(command string) bool { return strings.Contains(command, "/") && !path.IsAbs(command) }

// isApply reports whether a command is a kubectl command that reads the objects of files.
func isApply(words []located.Text) bool {
	return words[0].Value == "kubectl" && slices.Contains(applying, subcommand(words[1:]))
}

// subcommand returns the subcommand among the arguments of kubectl, "" if there is none. As in kubectl, a flag before it has a value,
// unless it is one of switches.
func subcommand(args []located.Text) string {
	for i := 0; i < len(args); i++ {
		switch arg := args[i].Value; {
		case arg == "--":
			return ""
		case !strings.HasPrefix(arg, "-"):
			return arg
		case !strings.Contains(arg, "=") && (strings.HasPrefix(arg, "--") || len(arg) == 2) && !slices.Contains(switches, arg):
			i++
		}
	}
	return ""
}

// switches are the flags of all subcommands of kubectl that have no value.
var switches = []string{"-h", "--help", "--disable-compression", "--insecure-skip-tls-verify", "--match-server-version", "--warnings-as-errors"}

// applying are the subcommands of kubectl that read the objects of files.
var applying = []string{"apply", "create", "replace"}

// built returns the folder whose kustomization a command builds; "" if it builds none.
func built(words []located.Text) located.Text {
	if len(words) < 3 || !slices.Contains([]string{"kustomize build", "kubectl kustomize"}, words[0].Value+" "+words[1].Value) {
		return located.Text{}
	}
	folders := slices.DeleteFunc(slices.Clone(words[2:]), func(word located.Text) bool { return strings.HasPrefix(word.Value, "-") })
	if len(folders) != 1 {
		return located.Text{} // the value of a flag
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

// simplePipelines returns the pipelines of a script in a file, as the words of their commands, up to the first pipeline that is not
// simple: one with an expansion, a redirection, a condition or a subshell, or with a command that writes files and is no script.
// rest is the text from there on.
func simplePipelines(file string, n *yaml.Node) (pipelines [][][]located.Text, rest string) {
	script := n.Value
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
		var pipeline [][]located.Text
		if pipeline, simple = simplePipeline(file, n, s); simple {
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

// simplePipeline returns the words of the commands of a pipeline of a script in a file, and whether the pipeline is simple.
func simplePipeline(file string, n *yaml.Node, s *syntax.Stmt) (pipeline [][]located.Text, simple bool) {
	if !isPlain(s) {
		return nil, false
	}
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		left, first := simplePipeline(file, n, c.X)
		right, last := simplePipeline(file, n, c.Y)
		pipeline, simple = slices.Concat(left, right), c.Op == syntax.Pipe && first && last
	case *syntax.CallExpr:
		words, texts := make([]string, 0, len(c.Args)), make([]located.Text, 0, len(c.Args))
		for _, arg := range c.Args {
			word, plain := plainWord(arg.Parts)
			if !plain {
				return nil, false
			}
			words, texts = append(words, word), append(texts, located.Text{Place: located.LineIn(file, n, int(arg.Pos().Line())), Value: word})
		}
		pipeline, simple = [][]located.Text{texts}, len(words) > 0 && len(c.Assigns) == 0 && isSimple(words)
	}
	return pipeline, simple && (len(pipeline) == 1 || !slices.ContainsFunc(pipeline, func(words []located.Text) bool { return words[0].Value == "cd" }))
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
