// SPDX-License-Identifier: Apache-2.0
package main

import (
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/kubernetes/pkg/kubelet/kubeletconfig/util/codec"
)

func decode(codecs *serializer.CodecFactory, text []byte) (any, error) {
	return codec.DecodeKubeletConfiguration(codecs, text)
}
