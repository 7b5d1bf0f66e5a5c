package repository

import (
	"path"
	"slices"
	"strings"
)

// BootstrapCluster returns the name of the cluster that a bootstrap file belongs to:
// clusters/NAME/…, NAME/bootstrap/…, or bootstrap/NAME/… if clusters/NAME exists. It is "" if the
// path contains no name.
func BootstrapCluster(paths []string, file string) string {
	if name := ClusterOf(file); name != "" {
		return name
	}
	parts := strings.Split(file, "/")
	for i, part := range parts[:len(parts)-1] {
		if part != "bootstrap" {
			continue
		}
		if i+1 < len(parts)-1 && slices.ContainsFunc(paths, func(p string) bool {
			return strings.HasPrefix(p, "clusters/"+parts[i+1]+"/")
		}) {
			return parts[i+1]
		}
		if i > 0 && !slices.Contains([]string{"kubernetes", "k8s", "cluster", "clusters", "infrastructure", "talos"}, parts[i-1]) {
			return parts[i-1]
		}
	}
	return ""
}

// ClusterOf returns the name of the cluster that a path belongs to by the conventions of
// Flux repositories: clusters/NAME/…; "" if the path contains none.
func ClusterOf(file string) string {
	if dir := ClusterFolder(file); dir != "" {
		return path.Base(dir)
	}
	return ""
}

// ClusterFolder returns the folder clusters/NAME that a path is in; "" if it is in none.
func ClusterFolder(file string) string {
	parts := strings.Split(file, "/")
	for i, part := range parts[:len(parts)-1] {
		if part == "clusters" && i+1 < len(parts)-1 {
			return path.Join(parts[:i+2]...)
		}
	}
	return ""
}

// SharedFolders returns the number of leading folders that two paths share.
func SharedFolders(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(x)-1 && n < len(y)-1 && x[n] == y[n] {
		n++
	}
	return n
}
