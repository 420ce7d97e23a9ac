// SPDX-License-Identifier: Apache-2.0
/**
 * `meta.k8s.io/v1` PartialObjectMetadata: only the metadata of an object, if the client requests it
 * (pkg/endpoints/handlers/response.go of k8s.io/apiserver). For one object and for a list the names
 * are different. Pure.
 */
import type { KubeObject } from './objects.ts'

export function wantsMetadata(accept: string, list: 'List' | '' = ''): boolean {
  return accept.includes(`as=PartialObjectMetadata${list};`) && accept.includes('g=meta.k8s.io') && accept.includes('v=v1')
}

export function partialOf({ metadata }: KubeObject): unknown {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
}

export function partialListOf(objects: readonly KubeObject[], metadata: object): unknown {
  return { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata, items: objects.map(partialOf) }
}
