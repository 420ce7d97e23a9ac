// SPDX-License-Identifier: Apache-2.0

//go:build tools

package tools

import _ "k8s.io/kubernetes/cmd/kubelet"
