// SPDX-License-Identifier: Apache-2.0
package main

import (
	"go/ast"
	"go/printer"
	"strings"
)

// text gives a piece of code in one line.
func (s *source) text(node ast.Node) string {
	var out strings.Builder
	if err := printer.Fprint(&out, s.files, node); err != nil {
		fail("%v", err)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}
