// SPDX-License-Identifier: Apache-2.0
/**
 * The selector channel: chooses the ConfigMap of a fleet with the highest priority whose node
 * selector matches the Node. A ConfigMap whose metadata is malformed could be meant for any node,
 * so it counts as a match: that is an error if it could be the one with the highest priority, and
 * ignored otherwise. A tie is an error, since neither is clearly meant. ConfigMaps that are layers
 * are laid over the chosen one, in ascending priority. Pure.
 *
 * A missing selector selects nothing and an empty selector selects everything, as in Kubernetes
 * (`LabelSelectorAsSelector`).
 */

import { FLEET_LABEL, LAYER_ANNOTATION, NODE_SELECTOR_ANNOTATION, PRIORITY_ANNOTATION } from '../../decision/channels.ts'
import { isObjectName, quote } from '../../values/kubernetes-names.ts'
import { identityOf, type Requested } from '../kube-object.ts'
import { type Labels, matchesLabels, parseLabelSelector } from './label-selector.ts'
import { metadataOf } from './metadata.ts'

/** One ConfigMap of a fleet, from its metadata. */
export interface FleetMember {
  readonly name: string
  /** undefined: it has none. */
  readonly selector: string | undefined
  readonly priority: string | undefined
  /** `true`: the ConfigMap is laid over the one that is chosen, and never chosen itself. */
  readonly layer?: string | undefined
  /** Why the metadata cannot be read at all. */
  readonly problem: string | undefined
}

type FleetChoice =
  /** `layers`: laid over it, in this order. Absent: none. */
  | { readonly kind: 'chosen'; readonly name: string; readonly layers?: readonly string[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly detail: string }

type Refused = Extract<FleetChoice, { kind: 'refused' }>

interface FleetMatch {
  readonly name: string
  readonly priority: number
  readonly isLayer: boolean
  /** Why the ConfigMap could be meant for this node but is malformed. */
  readonly problem: string | undefined
}

/** A ConfigMap whose priority cannot be read could be the highest. */
const UNREADABLE_PRIORITY = Number.POSITIVE_INFINITY

/** Each takes a watch of its own on every node. */
const MOST_LAYERS = 8

/** Selects the ConfigMaps of the fleet, for a list or a watch. */
export function fleetCollection(namespace: string) {
  return { path: `/api/v1/namespaces/${namespace}/configmaps`, query: { labelSelector: `${FLEET_LABEL}=true` } }
}

/** The objects that such a list or watch returns. */
export function requestedMembers(namespace: string): Requested {
  return { kind: 'ConfigMap', namespace, name: undefined, form: 'metadata' }
}

export function readFleetMembers(configMaps: readonly unknown[]): FleetMember[] {
  return configMaps.flatMap((configMap) => readFleetMember(configMap) ?? [])
}

/** undefined: it is not an object with a name. */
export function readFleetMember(configMap: unknown): FleetMember | undefined {
  const name = identityOf(configMap)?.name
  if (name === undefined) return undefined
  const metadata = metadataOf(configMap)
  return {
    name,
    selector: metadata?.annotations[NODE_SELECTOR_ANNOTATION],
    priority: metadata?.annotations[PRIORITY_ANNOTATION],
    layer: metadata?.annotations[LAYER_ANNOTATION],
    problem: metadata === undefined ? 'its labels or annotations are not maps of strings' : undefined,
  }
}

export function chooseFromFleet(members: readonly FleetMember[], labels: Labels): FleetChoice {
  const matches = members.flatMap((member) => matchMember(member, labels) ?? [])
  const winner = chooseWinner(matches.filter(({ isLayer }) => !isLayer))
  const layers = matches.filter(({ isLayer }) => isLayer)
  return winner.kind === 'chosen' && layers.length > 0 ? { ...winner, ...orderLayers(layers) } : winner
}

function chooseWinner(candidates: readonly FleetMatch[]): FleetChoice {
  const highest = Math.max(...candidates.map(({ priority }) => priority))
  const first = candidates.filter(({ priority }) => priority === highest)
  const [winner, ...others] = first
  if (winner === undefined) return { kind: 'none' }
  const broken = first.find(({ problem }) => problem !== undefined)
  if (broken !== undefined) return refuseBroken(broken)
  if (others.length > 0) return refuse(`ConfigMaps ${nameSome(first)} match with the same priority ${highest}`)
  return { kind: 'chosen', name: winner.name }
}

/** Each layer counts, so none may be malformed, and two of the same priority have no order. */
function orderLayers(layers: readonly FleetMatch[]): { readonly layers: readonly string[] } | Refused {
  const broken = layers.find(({ problem }) => problem !== undefined)
  if (broken !== undefined) return refuseBroken(broken)
  if (layers.length > MOST_LAYERS)
    return refuse(`${layers.length} ConfigMaps with the annotation ${LAYER_ANNOTATION} match, and at most ${MOST_LAYERS} may`)
  const ascending = [...layers].sort((a, b) => a.priority - b.priority)
  const tie = ascending.find(({ priority }, index) => ascending[index + 1]?.priority === priority)
  if (tie !== undefined) {
    const tied = ascending.filter(({ priority }) => priority === tie.priority)
    return refuse(`ConfigMaps ${nameSome(tied)} match with the annotation ${LAYER_ANNOTATION} and the same priority ${tie.priority}`)
  }
  return { layers: ascending.map(({ name }) => name) }
}

function nameSome(matches: readonly FleetMatch[]): string {
  const names = matches.map(({ name }) => name).sort()
  return `${names.slice(0, 5).join(', ')}${names.length > 5 ? ', ...' : ''}`
}

/** undefined: it is not meant for this node. */
function matchMember({ name, selector, priority, layer, problem }: FleetMember, labels: Labels): FleetMatch | undefined {
  if (problem !== undefined) return { name, priority: UNREADABLE_PRIORITY, isLayer: false, problem }
  const value = priority === undefined ? 0 : parsePriority(priority)
  const match = (memberProblem: string | undefined): FleetMatch => ({
    name,
    priority: value ?? UNREADABLE_PRIORITY,
    isLayer: layer !== undefined && layer !== 'false',
    problem: memberProblem,
  })
  if (selector === undefined) return undefined
  const reading = parseLabelSelector(selector)
  if (!reading.ok) return match(`its annotation ${NODE_SELECTOR_ANNOTATION} is not a label selector: ${reading.detail}`)
  if (!matchesLabels(reading.selector, labels)) return undefined
  if (value === undefined) return match(`its annotation ${PRIORITY_ANNOTATION} is not a whole number: ${quote(priority)}`)
  if (layer !== undefined && layer !== 'true' && layer !== 'false')
    return match(`its annotation ${LAYER_ANNOTATION} is neither true nor false: ${quote(layer)}`)
  return match(isObjectName(name) ? undefined : 'its name is not a valid name of a ConfigMap')
}

/** 32 bits, as in a PriorityClass. */
function parsePriority(text: string): number | undefined {
  if (!/^-?\d{1,10}$/.test(text)) return undefined
  const value = Number(text)
  return value >= -(2 ** 31) && value < 2 ** 31 ? value : undefined
}

function refuseBroken({ name, problem }: FleetMatch): Refused {
  return refuse(`ConfigMap ${quote(name)} could be meant for this node, and ${problem}`)
}

function refuse(detail: string): Refused {
  return { kind: 'refused', detail }
}
