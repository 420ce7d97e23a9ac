// SPDX-License-Identifier: Apache-2.0
/**
 * How an API server treats `Node.spec.configSource` and `Node.status.config`. Up to 1.21 it
 * validates and stores them (`ValidateNodeSpecConfigSource`, `validateNodeConfigStatus` in
 * pkg/apis/core/validation of 1.20). From 1.26 on it drops them silently, unless the stored Node
 * already has the field (`dropDisabledFields`, pkg/registry/core/node/strategy.go). Pure.
 */
import { ApiError, isJsonObject, type Json, section } from './objects.ts'

export function dropConfigSource(node: Json, stored: Json | undefined): Json {
  return dropUnlessStored(dropUnlessStored(node, stored, 'spec', 'configSource'), stored, 'status', 'config')
}

function dropUnlessStored(node: Json, stored: Json | undefined, part: string, field: string): Json {
  if (stored !== undefined && section(stored, part)[field] !== undefined) return node
  if (section(node, part)[field] === undefined) return node
  const { [field]: _, ...rest } = section(node, part)
  return { ...node, [part]: rest }
}

export function validateConfigSource(node: Json): void {
  const problems = [...problemsOfSource(section(node, 'spec').configSource, 'spec.configSource', 'spec'), ...problemsOfStatus(node)]
  if (problems.length === 0) return
  const name = String(section(node, 'metadata').name)
  throw new ApiError(422, 'Invalid', `Node "${name}" is invalid: ${problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`}`)
}

function problemsOfStatus(node: Json): string[] {
  const config = section(section(node, 'status'), 'config')
  return ['assigned', 'active', 'lastKnownGood'].flatMap((slot) => problemsOfSource(config[slot], `status.config.${slot}`, 'status'))
}

function problemsOfSource(source: unknown, path: string, place: 'spec' | 'status'): string[] {
  if (source === undefined || source === null) return []
  const configMap = isJsonObject(source) ? source.configMap : undefined
  if (!isJsonObject(configMap)) return [`${path}: Invalid value: "null": exactly one reference subfield must be non-nil`]
  return [
    ...problemsOfText(configMap, `${path}.configMap`, 'namespace', /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'a lowercase RFC 1123 label'),
    ...problemsOfText(configMap, `${path}.configMap`, 'name', /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'a lowercase RFC 1123 subdomain'),
    ...problemsOfText(configMap, `${path}.configMap`, 'kubeletConfigKey', /^(?!\.{1,2}$)[-._a-zA-Z0-9]+$/, 'a valid config key'),
    ...['uid', 'resourceVersion'].flatMap((field) => {
      const present = Boolean(configMap[field])
      if (place === 'spec' && present) return [`${path}.configMap.${field}: Forbidden: ${field} must not be set in spec`]
      if (place === 'status' && !present) return [`${path}.configMap.${field}: Required value: ${field} must be set in status`]
      return []
    }),
  ]
}

function problemsOfText(object: Json, path: string, field: string, pattern: RegExp, rule: string): string[] {
  const value = object[field]
  if (value === undefined || value === '') return [`${path}.${field}: Required value`]
  if (typeof value === 'string' && value.length <= 253 && pattern.test(value)) return []
  return [`${path}.${field}: Invalid value: ${JSON.stringify(value)}: must be ${rule}`]
}
