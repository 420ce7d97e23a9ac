// SPDX-License-Identifier: Apache-2.0
// Reader prints, as JSON, what one release of Kubernetes says about KubeletConfiguration: its
// fields with their types, its defaults, and the feature gates that kubelet knows. It reads the
// source text of the modules with go/ast, and runs none of it. Where it meets code that it does not
// understand, it fails. It also prints the code of what decides over a config, to be compared with
// that of another release, and instead of all that the names that some files and folders declare.
//
// Usage: reader 1.36 k8s.io/kubernetes=DIR k8s.io/kubelet=DIR ...
//
//	reader declared k8s.io/kubernetes=DIR ... -- k8s.io/kubernetes/pkg/kubelet/cm ...
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	typesPackage    = "k8s.io/kubelet/config/v1beta1"
	insidePackage   = "k8s.io/kubernetes/pkg/kubelet/apis/config"
	defaultsPackage = "k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1"
	evictionPackage = "k8s.io/kubernetes/pkg/kubelet/eviction"
)

type release struct {
	Fields       []field             `json:"fields"`
	Defaults     map[string]any      `json:"defaults"`
	Dependent    map[string]string   `json:"dependent"`
	Gates        map[string]gate     `json:"gates"`
	Dependencies map[string][]string `json:"dependencies"`
	Functions    map[string]string   `json:"functions"`
}

func main() {
	if os.Args[1] == "declared" {
		modules := slices.Index(os.Args, "--")
		print(readDeclared(newSource(os.Args[2:modules]), os.Args[modules+1:]))
		return
	}
	minor, err := strconv.Atoi(strings.TrimPrefix(os.Args[1], "1."))
	if err != nil {
		fail("the first argument is a version such as 1.36: %v", err)
	}
	source := newSource(os.Args[2:])
	fields := readFields(source)
	defaults := readDefaults(source, fields)
	gates, dependencies := readGates(source, minor)
	print(release{fields, defaults.values, defaults.dependent, gates, dependencies, readFunctions(source)})
}

func print(value any) {
	if err := json.NewEncoder(os.Stdout).Encode(value); err != nil {
		fail("%v", err)
	}
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}
