/**
 * The selector channel: of the ConfigMaps of a fleet, the one of highest priority whose node selector matches a Node. A ConfigMap that cannot be
 * understood may be meant for any node, so it is taken for a match: it is an error where it could be the one that decides, and none where a
 * higher priority decides anyway. A tie is refused, since which of the two would win is nobody's intention. Pure.
 *
 * A ConfigMap without a selector selects nothing and one with an empty selector everything, as in Kubernetes (`LabelSelectorAsSelector`).
 */

import { FLEET_LABEL, NODE_SELECTOR_ANNOTATION, PRIORITY_ANNOTATION } from '../../decision/channels.ts'
import { isObjectName, quote } from '../../values/kubernetes-names.ts'
import { identityOf } from '../kube-object.ts'
import { type Labels, matchesLabels, parseLabelSelector } from './label-selector.ts'
import { metadataOf } from './metadata.ts'

/** One ConfigMap of a fleet; its metadata is enough. */
export interface FleetMember {
  readonly name: string
  /** undefined: none is given. */
  readonly selector: string | undefined
  readonly priority: string | undefined
  /** Why it cannot be understood at all. */
  readonly problem: string | undefined
}

export type FleetChoice =
  | { readonly kind: 'chosen'; readonly name: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly detail: string }

interface FleetMatch {
  readonly name: string
  readonly priority: number
  /** It could be meant for this node, and cannot be understood. */
  readonly problem: string | undefined
}

/** Nobody knows what it would be, so it could be the highest. */
const UNREADABLE_PRIORITY = Number.POSITIVE_INFINITY

/** Lists and watches the ConfigMaps of the fleet. */
export function fleetCollection(namespace: string) {
  return { path: `/api/v1/namespaces/${namespace}/configmaps`, query: { labelSelector: `${FLEET_LABEL}=true` } }
}

export function readFleetMembers(configMaps: readonly unknown[]): FleetMember[] {
  return configMaps.flatMap((configMap) => readFleetMember(configMap) ?? [])
}

/** undefined: it is no object with a name. */
export function readFleetMember(configMap: unknown): FleetMember | undefined {
  const name = identityOf(configMap)?.name
  if (name === undefined) return undefined
  const metadata = metadataOf(configMap)
  return {
    name,
    selector: metadata?.annotations[NODE_SELECTOR_ANNOTATION],
    priority: metadata?.annotations[PRIORITY_ANNOTATION],
    problem: metadata === undefined ? 'its labels or annotations are not text by key' : undefined,
  }
}

export function chooseOfFleet(members: readonly FleetMember[], labels: Labels): FleetChoice {
  const candidates = members.flatMap((member) => matchMember(member, labels) ?? [])
  const highest = Math.max(...candidates.map(({ priority }) => priority))
  const first = candidates.filter(({ priority }) => priority === highest)
  const [winner, ...others] = first
  if (winner === undefined) return { kind: 'none' }
  const broken = first.find(({ problem }) => problem !== undefined)
  if (broken !== undefined) return refuse(`ConfigMap ${quote(broken.name)} could be meant for this node, and ${broken.problem}`)
  if (others.length > 0) {
    const names = first.map(({ name }) => name).sort()
    return refuse(`ConfigMaps ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', ...' : ''} match with the same priority ${highest}`)
  }
  return { kind: 'chosen', name: winner.name }
}

/** undefined: it is not meant for this node. */
function matchMember({ name, selector, priority, problem }: FleetMember, labels: Labels): FleetMatch | undefined {
  if (problem !== undefined) return { name, priority: UNREADABLE_PRIORITY, problem }
  const value = priority === undefined ? 0 : parsePriority(priority)
  const of = (why: string | undefined): FleetMatch => ({ name, priority: value ?? UNREADABLE_PRIORITY, problem: why })
  if (selector === undefined) return undefined
  const reading = parseLabelSelector(selector)
  if (!reading.ok) return of(`its annotation ${NODE_SELECTOR_ANNOTATION} is no label selector: ${reading.detail}`)
  if (!matchesLabels(reading.selector, labels)) return undefined
  if (value === undefined) return of(`its annotation ${PRIORITY_ANNOTATION} is no whole number: ${quote(priority)}`)
  return of(isObjectName(name) ? undefined : 'its name is none that a ConfigMap can have')
}

/** As a PriorityClass has it: 32 bits. */
function parsePriority(text: string): number | undefined {
  if (!/^-?\d{1,10}$/.test(text)) return undefined
  const value = Number(text)
  return value >= -(2 ** 31) && value < 2 ** 31 ? value : undefined
}

function refuse(detail: string): FleetChoice {
  return { kind: 'refused', detail }
}
