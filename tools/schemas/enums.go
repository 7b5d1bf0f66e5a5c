package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// enums are the allowed values of fields, by the names of the schema and the field. The API server's published
// OpenAPI document omits them. The Go code from which it is generated has them, for the types with the marker
// +enum.
type enums map[string]map[string][]any

// generatedOpenAPI is the path of that code in k8s.io/kubernetes.
const generatedOpenAPI = "pkg/generated/openapi/zz_generated.openapi.go"

// readEnums reads the enums of the API's own types.
func readEnums(file string) (enums, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	all := enums{}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		rest, ok := strings.CutPrefix(f.Name.Name, "schema_k8sio_api_")
		if !ok {
			continue
		}
		name := "io.k8s.api." + strings.ReplaceAll(rest, "_", ".")
		ast.Inspect(f, func(n ast.Node) bool {
			pair, ok := n.(*ast.KeyValueExpr)
			if !ok || keyOf(pair) != "Properties" {
				return true
			}
			if all[name] == nil {
				all[name] = map[string][]any{}
			}
			fields(pair.Value, all[name])
			return false
		})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no schema of k8s.io/api", file)
	}
	return all, nil
}

// keyOf returns the name of a field in a composite literal.
func keyOf(pair *ast.KeyValueExpr) string {
	if id, ok := pair.Key.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// fields collects the enums of the properties in a map literal, and of the items of lists.
func fields(properties ast.Expr, into map[string][]any) {
	literal, ok := properties.(*ast.CompositeLit)
	if !ok {
		return
	}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, ok := pair.Key.(*ast.BasicLit)
		if !ok {
			continue
		}
		name, err := strconv.Unquote(key.Value)
		if err != nil {
			continue
		}
		ast.Inspect(pair.Value, func(n ast.Node) bool {
			if inner, ok := n.(*ast.KeyValueExpr); ok && keyOf(inner) == "Enum" {
				into[name] = texts(inner.Value)
				return false
			}
			return true
		})
	}
}

// texts returns the strings of a list literal.
func texts(list ast.Expr) []any {
	literal, ok := list.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	var all []any
	for _, element := range literal.Elts {
		if basic, ok := element.(*ast.BasicLit); ok && basic.Kind == token.STRING {
			if value, err := strconv.Unquote(basic.Value); err == nil {
				all = append(all, value)
			}
		}
	}
	return all
}

// add adds the enums to the schemas. The empty string is allowed, too, because the API server treats it as
// unset.
func (e enums) add(schemas map[string]map[string]any) {
	for name, fields := range e {
		properties, _ := schemas[name]["properties"].(map[string]any)
		for field, values := range fields {
			property, _ := properties[field].(map[string]any)
			if items, isList := property["items"].(map[string]any); isList {
				property = items
			} else if !slices.Contains(values, any("")) {
				values = append(slices.Clone(values), "")
			}
			if property["type"] == "string" {
				property["enum"] = values
			}
		}
	}
}
