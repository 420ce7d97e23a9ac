/**
 * `meta.k8s.io/v1` PartialObjectMetadata: an object without what is not metadata, for who asks for that (pkg/endpoints/handlers/response.go of
 * k8s.io/apiserver). One object and a list are asked for by different names. Pure.
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
