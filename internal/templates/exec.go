package templates

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/located"
)

// exec evaluates, without running them, the commands with which real helmfiles read a file of the
// repository: yq with a path, and cat. Every other command is unresolved.
func (r *rendering) exec(command string, args []any, inputs ...string) (any, error) {
	words := []string{command}
	for i, a := range args {
		s, ok := a.(string)
		if !ok {
			return nil, fmt.Errorf("unexpected type of arg \"%T\" in args at index %d", a, i)
		}
		words = append(words, s)
	}
	out, err := r.command(words, strings.Join(inputs, ""))
	var unknown *UnknownError
	if errors.As(err, &unknown) {
		r.blocked = append(r.blocked, unknown.Mark)
		return r.Mark(unknown.Mark), nil
	}
	return out, err
}

func notRun(what string) error {
	return &UnknownError{located.Unknown{Reason: fmt.Sprintf("the template calls exec %q, which is not run here", what)}}
}

func (r *rendering) command(words []string, input string) (string, error) {
	switch words[0] {
	case "yq":
		return r.yq(words[1:], input)
	case "cat":
		return r.cat(words[1:], input)
	}
	return "", notRun(words[0])
}

func (r *rendering) cat(files []string, input string) (string, error) {
	if len(files) == 0 {
		return input, nil
	}
	var out strings.Builder
	for _, f := range files {
		data, err := r.commandFile(f)
		if err != nil {
			return "", err
		}
		out.WriteString(data)
	}
	return out.String(), nil
}

// commandFile reads a file that a command names. The path is relative to the folder of the
// template's paths.
func (r *rendering) commandFile(name string) (string, error) {
	if strings.HasPrefix(name, "-") || name == "" {
		return "", notRun("… " + name)
	}
	out, err := r.readFile(name)
	text, _ := out.(string)
	if m, bad := r.Marked(text); err == nil && bad && onlyMarks(text) {
		return "", &UnknownError{m}
	}
	return text, err
}

// expanded replaces $VAR and ${VAR} with the assumed value of the environment variable, or with a mark.
func (r *rendering) expanded(text string) string {
	return os.Expand(text, func(name string) string {
		if len(name) > 100 {
			name = name[:100]
		}
		if value, known := r.variable(name); known {
			return value
		}
		return r.Mark(environmentMark(name, name))
	})
}

// yqOptions are the options of a yq command.
type yqOptions struct {
	expression, file string
	json, compact    bool
}

// yq evaluates yq (version 4) on one file, or on its input.
func (r *rendering) yq(args []string, input string) (string, error) {
	o, err := parseYq(args)
	if err != nil {
		return "", err
	}
	if o.file != "" && o.file != "-" {
		if input, err = r.commandFile(o.file); err != nil {
			return "", err
		}
	}
	steps, err := parseYqExpression(o.expression)
	if err != nil {
		return "", err
	}
	if _, err := DecodeYAML(input); err != nil {
		return "", fmt.Errorf("bad file '%s': %w", o.file, err)
	}
	var out strings.Builder
	decoder := yaml.NewDecoder(strings.NewReader(input))
	for decoder != nil {
		var doc yaml.Node
		if err := decoder.Decode(&doc); err != nil {
			break // the end of the stream, which was validated before
		}
		result, found := applyYq(steps, &doc)
		if !found {
			continue
		}
		text, err := o.print(result)
		if err != nil {
			return "", err
		}
		if out.Len() > 0 && !o.json {
			out.WriteString("---\n")
		}
		out.WriteString(text)
	}
	return out.String(), nil //nolint:nilerr // an error is the end of the stream, which was validated before
}

func parseYq(args []string) (o yqOptions, err error) {
	var words []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; a {
		case "-r", "--unwrapScalar", "--raw-output", "-M", "--no-colors", "-P", "--prettyPrint", "-p=yaml", "--input-format=yaml",
			"-o=yaml", "-oy", "-o=y", "--output-format=yaml", "-p=y", "-py", "-N", "--no-doc":
		case "-o=json", "-oj", "-o=j", "--output-format=json", "-ojson", "-j", "--tojson":
			o.json = true
		case "-I=0", "-I0", "--indent=0":
			o.compact = true
		case "-o", "-p", "-I":
			if i++; i == len(args) || a == "-p" && args[i] != "yaml" || a == "-o" && args[i] != "json" && args[i] != "yaml" {
				return o, notRun("yq " + a)
			}
			o.json, o.compact = o.json || args[i] == "json", o.compact || a == "-I" && args[i] == "0"
		default:
			if strings.HasPrefix(a, "-") && a != "-" {
				return o, notRun("yq " + a)
			}
			words = append(words, a)
		}
	}
	if len(words) > 0 && (words[0] == "e" || words[0] == "eval") {
		words = words[1:]
	}
	switch len(words) {
	case 0:
		o.expression = "."
	case 1:
		o.expression = words[0]
	case 2:
		o.expression, o.file = words[0], words[1]
	default:
		return o, notRun("yq with several files")
	}
	return o, nil
}

// print returns a result as yq prints it: a scalar without quotes.
func (o yqOptions) print(n *yaml.Node) (string, error) {
	if o.json {
		v, err := located.ValueOf("", n, located.AsKustomize)
		if err != nil {
			return "", err
		}
		var out strings.Builder
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if !o.compact {
			encoder.SetIndent("", "  ")
		}
		err = encoder.Encode(v.Plain())
		return out.String(), err
	}
	if n.Kind == yaml.ScalarNode {
		return n.Value + "\n", nil
	}
	var out strings.Builder
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(n); err != nil {
		return "", err
	}
	return out.String(), encoder.Close()
}
