// SPDX-License-Identifier: Apache-2.0
/**
 * The very files of deploy/rbac, taken apart: each right that they grant, the file without one of
 * them, and the file for one subject alone, so that many variants of it live side by side in one
 * cluster. Pure but for the reading.
 */
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'

export const DEPLOY = join(import.meta.dirname, '../../../deploy')

/** The record of a config, as deploy/rbac/rollout.yaml names it. */
export const RECORD_SUFFIX = '-rollout'

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

export interface Subject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly name: string
  readonly namespace?: string
  readonly apiGroup?: string
}

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly Rule[]
  readonly roleRef?: { readonly name: string; readonly kind: string; readonly apiGroup: string }
  readonly subjects?: readonly Subject[]
}

/** One verb on one resource: as small as a right gets. */
interface Right {
  readonly role: string
  readonly resource: string
  readonly verb: string
}

export function readManifests(file: string): Manifest[] {
  return parseAllDocuments(readFileSync(join(DEPLOY, file), 'utf8')).map((document) => {
    const object: Manifest = document.toJS()
    assert(typeof object.kind === 'string' && typeof object.metadata.name === 'string', `${file} holds something that is no object`)
    return object
  })
}

export function listRights(manifests: readonly Manifest[]): Right[] {
  return manifests.flatMap(({ kind, metadata, rules = [] }) =>
    rules.flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => ({ role: `${kind} ${metadata.name}`, resource, verb }))),
    ),
  )
}

/** `nodes/status patch`: unique in a file, and a key for what is lost without it. */
export function nameOf({ resource, verb }: Right): string {
  return `${resource} ${verb}`
}

export function without(manifests: readonly Manifest[], right: Right): Manifest[] {
  return manifests.map((manifest) => {
    if (`${manifest.kind} ${manifest.metadata.name}` !== right.role) return manifest
    const rules = (manifest.rules ?? []).flatMap((rule) => {
      if (!rule.resources.includes(right.resource)) return [rule]
      const others = rule.resources.filter((resource) => resource !== right.resource)
      const verbs = rule.verbs.filter((verb) => verb !== right.verb)
      return [
        ...(others.length > 0 ? [{ ...rule, resources: others }] : []),
        ...(verbs.length > 0 ? [{ ...rule, resources: [right.resource], verbs }] : []),
      ]
    })
    return { ...manifest, rules }
  })
}

/** Without one right on one of the objects that the file names: the others keep it. */
export function withoutOn(manifests: readonly Manifest[], { role, resource, verb }: Right, name: string): Manifest[] {
  return manifests.map((manifest) => {
    const { kind, metadata, rules = [] } = manifest
    if (`${kind} ${metadata.name}` !== role) return manifest
    return {
      ...manifest,
      rules: rules.flatMap((rule) => {
        const { resourceNames = [], resources, verbs } = rule
        if (!resources.includes(resource) || !resourceNames.includes(name)) return [rule]
        const others = resourceNames.filter((other) => other !== name)
        assert(others.length > 0, 'a rule that names nothing names everything')
        return [
          { ...rule, resourceNames: others },
          { ...rule, resourceNames: [name], verbs: verbs.filter((other) => other !== verb) },
        ]
      }),
    }
  })
}

/**
 * Roles and bindings under names of their own, for `subject`, and for the ConfigMaps `names` where
 * the file names some: of a file about records, for the records of these.
 */
export function forAlone(manifests: readonly Manifest[], subject: Subject, names: readonly string[]): Manifest[] {
  const suffix = `--${subject.name.replaceAll(':', '-')}`
  return manifests
    .filter(({ kind }) => kind.endsWith('Role') || kind.endsWith('RoleBinding'))
    .map((manifest) => ({
      ...manifest,
      metadata: { ...manifest.metadata, name: manifest.metadata.name + suffix },
      ...(manifest.rules && {
        rules: manifest.rules.map((rule) => {
          if (rule.resourceNames === undefined) return rule
          const isOfRecords = rule.resourceNames.every((name) => name.endsWith(RECORD_SUFFIX))
          return { ...rule, resourceNames: isOfRecords ? names.map((name) => `${name}${RECORD_SUFFIX}`) : names }
        }),
      }),
      ...(manifest.roleRef && { roleRef: { ...manifest.roleRef, name: manifest.roleRef.name + suffix } }),
      ...(manifest.subjects && { subjects: [subject] }),
    }))
}

/** For `kubectl apply -f -`. */
export function asList(items: readonly Manifest[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
}
