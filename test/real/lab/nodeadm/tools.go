// SPDX-License-Identifier: Apache-2.0

//go:build tools

package tools

import _ "github.com/awslabs/amazon-eks-ami/nodeadm/cmd/nodeadm"
