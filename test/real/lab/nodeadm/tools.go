//go:build tools

package tools

import _ "github.com/awslabs/amazon-eks-ami/nodeadm/cmd/nodeadm"
