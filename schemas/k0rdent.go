package schemas

// K0rdentGroup is the group of k0rdent's kinds. Their schemas are Fleetwright's own
// description, tools/schemas/k0rdent.txt, of releases 1.11 and 1.12.
const K0rdentGroup = "k0rdent.mirantis.com"
