// SPDX-License-Identifier: Apache-2.0
/**
 * The only body that kubectl does not send as JSON: `kubectl create configmap` posts
 * `application/vnd.kubernetes.protobuf`: four magic bytes and a `runtime.Unknown`
 * (apimachinery/pkg/runtime/generated.proto) that contains a `v1.ConfigMap`
 * (api/core/v1/generated.proto). Parses only the fields that a new ConfigMap has. Pure.
 */
import { ApiError, type Json } from './objects.ts'

export const PROTOBUF = 'application/vnd.kubernetes.protobuf'

/** The length-delimited fields by number; other wire types are skipped. */
type Fields = ReadonlyMap<number, readonly Buffer[]>

export function decodeConfigMap(body: Buffer): Json {
  if (body.subarray(0, 4).toString('latin1') !== 'k8s\0') throw unreadable('no magic number')
  const unknown = readFields(body.subarray(4))
  const typeMeta = readFields(only(unknown, 1))
  const kind = only(typeMeta, 2).toString()
  if (kind !== 'ConfigMap') throw unreadable(`only ConfigMap is supported, not ${kind}`)
  const configMap = readFields(only(unknown, 2))
  const meta = readFields(only(configMap, 1))
  return {
    apiVersion: 'v1',
    kind,
    metadata: {
      name: only(meta, 1).toString(),
      namespace: only(meta, 3).toString(),
      ...(meta.has(11) ? { labels: readMap(meta, 11) } : {}),
      ...(meta.has(12) ? { annotations: readMap(meta, 12) } : {}),
    },
    ...(configMap.has(2) ? { data: readMap(configMap, 2) } : {}),
  }
}

function only(fields: Fields, number: number): Buffer {
  return fields.get(number)?.at(-1) ?? Buffer.alloc(0)
}

function readMap(fields: Fields, number: number): Json {
  const entries = (fields.get(number) ?? []).map(readFields)
  return Object.fromEntries(entries.map((entry) => [only(entry, 1).toString(), only(entry, 2).toString()]))
}

function readFields(bytes: Buffer): Fields {
  const fields = new Map<number, Buffer[]>()
  let at = 0
  const varint = (): number => {
    for (let value = 0, factor = 1; ; factor *= 128) {
      const octet = bytes[at++]
      if (octet === undefined) throw unreadable('it ends too early')
      value += (octet & 0x7f) * factor
      if (octet < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = varint()
    const wireType = tag % 8
    if (wireType === 0) varint()
    else if (wireType === 2) {
      const length = varint()
      const number = Math.floor(tag / 8)
      fields.set(number, [...(fields.get(number) ?? []), bytes.subarray(at, at + length)])
      at += length
    } else throw unreadable(`wire type ${wireType}`)
  }
  return fields
}

function unreadable(why: string): ApiError {
  return new ApiError(400, 'BadRequest', `the protobuf body cannot be read: ${why}`)
}
