// SPDX-License-Identifier: Apache-2.0
/** A static pod on the network of its host, of the one image that a node has. */
import { IMAGE_NAME } from './image.ts'

export function staticPod(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'kube-system' },
    spec: {
      hostNetwork: true,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'pause', image: IMAGE_NAME, imagePullPolicy: 'Never' }],
    },
  }
}
