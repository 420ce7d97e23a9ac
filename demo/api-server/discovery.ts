// SPDX-License-Identifier: Apache-2.0
/**
 * The answers that clients read first: the version, and the groups and resources. Legacy (not
 * aggregated) discovery. Pure.
 */
import { RESOURCES, type Resource } from './objects.ts'

export function discover(path: string, version: string): unknown {
  const groups = [...new Set(RESOURCES.map(({ group }) => group).filter((group) => group !== ''))]
  if (path === '/version') return describeVersion(version)
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }
  if (path === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(describeGroup) }
  if (path === '/api/v1') return listResources('')
  if (path === '/openapi/v3') return listDocuments(['', ...groups])
  if (path.startsWith('/openapi/v3/')) return describeValidation(path.slice('/openapi/v3/'.length))
  const group = groups.find((name) => path === `/apis/${name}` || path === `/apis/${name}/v1`)
  if (group === undefined) return undefined
  return path.endsWith('/v1') ? listResources(group) : { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group) }
}

function describeVersion(version: string): unknown {
  const [major = '', minor = ''] = version.replace(/^v/, '').split('.')
  return {
    major,
    minor,
    gitVersion: version,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '',
    goVersion: '',
    compiler: '',
    platform: '',
  }
}

function describeGroup(name: string): { name: string; versions: unknown[]; preferredVersion: unknown } {
  const version = { groupVersion: `${name}/v1`, version: 'v1' }
  return { name, versions: [version], preferredVersion: version }
}

function listResources(group: string): unknown {
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: group === '' ? 'v1' : `${group}/v1`,
    resources: RESOURCES.filter((resource) => resource.group === group).flatMap(describeResource),
  }
}

function describeResource({ plural, singular, namespaced, kind, shortNames, hasStatus }: Resource): unknown[] {
  const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']
  const main = { name: plural, singularName: singular, namespaced, kind, verbs, shortNames }
  const status = { name: `${plural}/status`, singularName: '', namespaced, kind, verbs: ['get', 'patch', 'update'] }
  return hasStatus ? [main, status] : [main]
}

function pathOf(group: string): string {
  return group === '' ? 'api/v1' : `apis/${group}/v1`
}

function listDocuments(groups: readonly string[]): unknown {
  return { paths: Object.fromEntries(groups.map(pathOf).map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}` }])) }
}

/**
 * No schema, but it announces validation of fields by the server: otherwise kubectl apply and edit
 * need `--validate=false`.
 */
function describeValidation(document: string): unknown {
  const described = RESOURCES.filter(({ group }) => pathOf(group) === document)
  const parameters = [{ name: 'fieldValidation', in: 'query', schema: { type: 'string' } }]
  const paths = described.map(({ group, plural, kind, namespaced }) => [
    `/${document}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}/{name}`,
    { patch: { parameters, 'x-kubernetes-group-version-kind': { group, version: 'v1', kind } } },
  ])
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: 'v1' }, paths: Object.fromEntries(paths), components: {} }
}
