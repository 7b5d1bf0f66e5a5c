package schemas

// Expressions bounds the compilation of CEL expressions that stand in objects, and that the API
// server's own code compiles: it can't be interrupted. Its zero value is for one run.
type Expressions struct{ spent int64 }

// Admit says whether there is time in the run to compile some more expressions of one object. What
// is not admitted is to be left unresolved; it counts too, so that many don't take long to refuse.
func (e *Expressions) Admit(texts []string) bool {
	if e.spent > runCompile {
		return false
	}
	t := timing{}
	for _, text := range texts {
		if t.addText(text); t.total > mostCompile {
			break
		}
	}
	e.spent += min(t.total, mostCompile)
	return t.total <= mostCompile && e.spent <= runCompile
}
