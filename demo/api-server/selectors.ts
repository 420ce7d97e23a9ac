// SPDX-License-Identifier: Apache-2.0
/**
 * Field and label selectors: comma-separated `path=value`, `path==value`, `path!=value`, `path` and
 * `!path`. Pure.
 */
import { isJsonObject, type KubeObject } from './objects.ts'

export type Selector = (object: KubeObject) => boolean

export function parseSelectors(query: URLSearchParams): Selector {
  const fields = parseTerms(query.get('fieldSelector') ?? '')
  const labels = parseTerms(query.get('labelSelector') ?? '')
  return (object) =>
    fields.every(({ path, equal, value }) => (String(readPath(object, path.split('.')) ?? '') === value) === equal) &&
    labels.every(({ path, equal, value }) => (String(readPath(object, ['metadata', 'labels', path]) ?? '') === value) === equal)
}

function parseTerms(text: string): { path: string; equal: boolean; value: string }[] {
  return text
    .split(',')
    .filter((term) => term !== '')
    .map((term) => {
      const [, path, operator, value = ''] = /^([^!=]+)(!=|==?)(.*)$/.exec(term) ?? []
      // Without a value: it exists, or it does not.
      if (path === undefined) return { path: term.replace(/^!/, ''), equal: term.startsWith('!'), value: '' }
      return { path, equal: operator !== '!=', value }
    })
}

function readPath(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, field) => (isJsonObject(at) ? at[field] : undefined), value)
}
