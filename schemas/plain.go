package schemas

// plainSchema is a JSON Schema that is not structural.
type plainSchema struct{}

func (*plainSchema) problems(map[string]any) []Problem { return nil }
