package mutation_test

// addedMutants are those of rules that go run -tags tools ./tools/newrule scaffolded. They may stay here, or move
// to the table of their domain.
var addedMutants = []mutant{}
