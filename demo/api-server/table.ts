// SPDX-License-Identifier: Apache-2.0
/**
 * `meta.k8s.io/v1` Table: the columns that kubectl prints. Pure, except for the age, which needs
 * the clock.
 */
import { type KubeObject, type Resource, section } from './objects.ts'
import { partialOf } from './partial.ts'

export function wantsTable(accept: string): boolean {
  return accept.includes('as=Table') && accept.includes('v=v1;')
}

export function tableOf(resource: Resource, objects: readonly KubeObject[], metadata: object): unknown {
  const columns = columnsOf(resource)
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: columns.map(([name]) => ({
      name,
      type: 'string',
      format: name === 'Name' ? 'name' : '',
      description: name,
      priority: 0,
    })),
    rows: objects.map((object) => ({ cells: columns.map(([, cell]) => cell(object)), object: partialOf(object) })),
  }
}

type Column = readonly [string, (object: KubeObject) => string]

function columnsOf({ kind }: Resource): readonly Column[] {
  const name: Column = ['Name', ({ metadata }) => metadata.name]
  const age: Column = ['Age', ({ metadata }) => ageOf(metadata.creationTimestamp)]
  switch (kind) {
    case 'Node':
      return [
        name,
        ['Status', readiness],
        age,
        ['Version', (node) => String(section(section(node, 'status'), 'nodeInfo').kubeletVersion ?? '')],
      ]
    case 'ConfigMap':
      return [name, ['Data', (configMap) => String(Object.keys(section(configMap, 'data')).length)], age]
    case 'Event':
      return [
        ['Last Seen', (event) => ageOf(String(event.lastTimestamp ?? event.metadata.creationTimestamp))],
        ['Type', ({ type }) => String(type ?? '')],
        ['Reason', ({ reason }) => String(reason ?? '')],
        ['Object', (event) => objectOf(section(event, 'involvedObject'))],
        ['Message', ({ message }) => String(message ?? '')],
      ]
    default:
      return [name, age]
  }
}

function objectOf({ kind, name }: Readonly<Record<string, unknown>>): string {
  return `${String(kind ?? '').toLowerCase()}/${String(name ?? '')}`
}

function readiness(node: KubeObject): string {
  const { conditions } = section(node, 'status')
  const ready = Array.isArray(conditions) ? conditions.find((condition) => condition?.type === 'Ready') : undefined
  if (ready === undefined) return 'Unknown'
  return ready.status === 'True' ? 'Ready' : 'NotReady'
}

function ageOf(timestamp: string): string {
  const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(timestamp)) / 1000))
  if (Number.isNaN(seconds)) return '<unknown>'
  return seconds < 120 ? `${seconds}s` : `${Math.floor(seconds / 60)}m`
}
