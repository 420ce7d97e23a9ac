// SPDX-License-Identifier: Apache-2.0
/** The state that must hold when everything that can be healed is, and enough time has passed. */

import { DEFAULT_PLAN, freeShare, keepOrder, type Plan, parsePlan } from '../../src/rollout/plan.ts'
import type { Entry } from '../../src/rollout/record.ts'
import type { FleetAgent } from './fleet-agent.ts'
import type { ConfigObject, RecordObject } from './fleet-api.ts'
import type { Ledger } from './ledger.ts'
import { parsedRecord, planOf } from './parsed.ts'
import { recordName, type Schedule } from './schedule.ts'
import { Violation } from './violation.ts'

export interface EndState {
  readonly schedule: Schedule
  readonly agents: readonly FleetAgent[]
  readonly ledger: Ledger
  readonly writes: number
  agent(name: string): FleetAgent | undefined
  config(name: string): ConfigObject
  record(config: string): RecordObject
}

export function checkEnd(end: EndState): void {
  for (const { name } of end.schedule.configs) {
    const config = end.config(name)
    const plan = planOf(config)
    if (config.rollout === undefined || config.rollout === 'off' || !plan.ok) continue
    everyNodeCame(end, name, config, plan.plan)
    failuresAreTold(end, name, config, plan.plan)
  }
  badContentStopsEarly(end)
  writesAreFew(end)
}

/** Nodes that could take part: honest, of this version, up, and assigned to this config. */
function takingPart({ agents }: EndState, config: string): readonly FleetAgent[] {
  return agents.filter(({ node }) => node.isUp && node.config === config && !node.traits.liar && !node.traits.old)
}

function isCondemned({ node }: FleetAgent, { content }: ConfigObject, plan: Plan): boolean {
  const verdict = node.verdicts.get(content.hash)
  return verdict !== undefined && verdict.retry >= plan.retry
}

/** Nodes that have not come to what the config holds, and have no reason for that. */
export function listLate(end: EndState, name: string): readonly FleetAgent[] {
  const config = end.config(name)
  const plan = planOf(config)
  return plan.ok ? findLate(end, name, config, plan.plan) : []
}

function findLate(end: EndState, name: string, config: ConfigObject, plan: Plan): readonly FleetAgent[] {
  const { content } = config
  const missing = takingPart(end, name).filter((agent) => agent.node.runs.hash !== content.hash && !isCondemned(agent, config, plan))
  if (missing.length === 0) return []
  const data = end.record(name).data
  const [, generation, stage, hash, , , retry] = (data.state ?? '').split(' ')
  const isBegun = hash === content.hash && Number(retry) >= plan.retry
  // Most nodes saw the same waves, and there may be thousands.
  const excuses = new Map<string, ReturnType<typeof findExcuse>>()
  const excuseFor = (kept: Plan) => {
    const key = kept.waves.join()
    if (!excuses.has(key)) excuses.set(key, findExcuse(end, name, config, data, generation ?? '', stage ?? '', kept))
    return excuses.get(key)
  }
  const isLate = ({ name: node, node: { traits, began } }: FleetAgent) => {
    const kept = keepOrder(plan, began?.waves, began?.zones)
    if (config.excluded.includes(node) && (!isBegun || freeShare(kept, Number(stage)) < 1)) return false
    const excuse = isBegun ? excuseFor(kept) : undefined
    return excuse === undefined ? !hasVetoed(data, node, generation ?? '') : excuse === 'control plane' && !traits.controlPlane
  }
  return missing.filter(isLate)
}

function everyNodeCame(end: EndState, name: string, config: ConfigObject, plan: Plan): void {
  const late = findLate(end, name, config, plan)
  if (late.length === 0) return
  const told = late.slice(0, 3).map(({ name: node, last }) => `${node} (${last?.turn.detail ?? 'no decision'})`)
  throw new Violation(
    'every reachable node comes to what the config holds',
    `${late.length} have not come to ${name} ${config.content.hash.slice(0, 8)}: ${told.join('; ')}; state "${end.record(name).data.state}"`,
  )
}

/** A node that was made anew after its veto is no witness in this generation any more (R2). */
function hasVetoed(data: RecordObject['data'], node: string, generation: string): boolean {
  return data[`node.${node}`]?.startsWith(`${generation} `) === true && data[`node.${node}`]?.split(' ')[2] === 'veto'
}

/**
 * Reasons that may stop nodes for good: a veto that was true or a lie, and too many claims of nodes
 * that will never prove them.
 */
function findExcuse(
  end: EndState,
  name: string,
  config: ConfigObject,
  data: RecordObject['data'],
  generation: string,
  stage: string,
  plan: Plan,
): 'all' | 'control plane' | undefined {
  const words = listWords(data, config, generation)
  const isFinished = freeShare(plan, Number(stage)) === 1
  // What passed on a node before this generation halts nobody that is let go by stages.
  const isOlder = (node: string) => !isFinished && end.agent(node)?.node.failedLate(config.content, Number(generation)) === true
  const vetoes = words.filter(
    ([key, value]) => value.split(' ')[2] === 'veto' && isTrueVeto(end, name, config, key.slice(5)) && !isOlder(key.slice(5)),
  )
  if (vetoes.length >= (stage === '0' ? 1 : plan.maxVetoes)) return isFinished ? 'control plane' : 'all'
  const lost = words.filter(([key, value]) => value.split(' ')[2] === 'claim' && isLost(end, name, key.slice(5)))
  const here = lost.filter(
    ([, value]) => value.startsWith(`${generation} ${stage} `) && (stage === '0' || !value.endsWith(' control-plane')),
  )
  if (here.length > plan.maxSilent) return 'all'
  return lost.some(([, value]) => value.endsWith(' control-plane')) ? 'control plane' : undefined
}

/** Of this generation. What an excluded node wrote excuses nobody. */
function listWords(data: RecordObject['data'], { excluded }: ConfigObject, generation: string): [key: string, value: string][] {
  const counts = ([key, value]: [string, string]) => key.startsWith('node.') && value.startsWith(`${generation} `)
  return Object.entries(data).filter((entry) => counts(entry) && !excluded.includes(entry[0].slice(5)))
}

/** The content failed there, as far as one can still ask. */
function isTrueVeto(end: EndState, configName: string, config: ConfigObject, name: string): boolean {
  const agent = end.agent(name)
  return agent === undefined || isLost(end, configName, name) || agent.node.verdicts.has(config.content.hash) || agent.node.wasReimaged
}

/**
 * Whether a node will never prove: it is gone, it lies, it uses another config, or it is not the
 * one that it was when it claimed.
 */
function isLost(end: EndState, config: string, name: string): boolean {
  const agent = end.agent(name)
  return agent === undefined || agent.node.config !== config || !agent.node.isUp || agent.node.traits.liar || agent.node.traits.old
}

function failuresAreTold(end: EndState, name: string, config: ConfigObject, plan: Plan): void {
  const { excluded } = config
  const condemned = takingPart(end, name).filter((agent) => isCondemned(agent, config, plan) && !excluded.includes(agent.name))
  if (condemned.length === 0) return
  const parsed = parsedRecord(end.record(name))
  if (!parsed.ok) throw new Violation('a failure is told', parsed.problem)
  const { state, entries } = parsed.record
  const isBegun = state?.hash === config.content.hash && state.retry >= plan.retry
  const isFinished = state !== undefined && freeShare(plan, state.stage) === 1
  // A content that had passed its trial before fails late, and halts no rollout. In a finished one,
  // only control planes still start one at a time.
  const isLate = ({ node }: FleetAgent) =>
    node.failedLate(config.content, isBegun ? state.generation : undefined) || (!isBegun && node.everPromoted.has(config.content.hash))
  const owes = (agent: FleetAgent) => (isBegun && isFinished ? agent.node.traits.controlPlane : !isLate(agent))
  const owed = condemned.filter(owes).length
  const isVeto = ([node, { kind, generation }]: [string, Entry]) =>
    kind === 'veto' && generation === state?.generation && !excluded.includes(node)
  const vetoes = [...entries].filter(isVeto).length
  if (owed === 0 || (isBegun && vetoes >= Math.min(5, owed))) return
  throw new Violation('a failure is told', `${owed} nodes failed, ${vetoes} vetoes are in the record of ${recordName(name)}`)
}

/**
 * Nodes that are away for as long as a claim holds, or write what they like, let others start too.
 */
function badContentStopsEarly({ schedule, ledger }: EndState): void {
  const disturbing = [
    'sleep',
    'partition',
    'agent-down',
    'die',
    'leave',
    'reboot',
    'api-down',
    'restore',
    'lie',
    'exclude',
    'vanish',
    'overload',
    'delete-record',
    'garble-record',
  ]
  const calm =
    !schedule.events.some(({ event }) => disturbing.includes(event.kind)) && schedule.nodes.every(({ traits }) => traits.slowness === 1)
  for (const [hash, starts] of ledger.starts) {
    const content = contentsOf(schedule).find((candidate) => candidate.hash === hash)
    if (content === undefined || content.nature.kind === 'good' || content.nature.kind === 'sickens') continue
    if (content.nature.share < 1) continue
    // The nodes of other sizes run it.
    if (content.nature.kind === 'fails' && content.nature.size !== undefined) continue
    if (mayHaveLiedAbout(schedule, hash)) continue
    if (content.nature.afterUs > 600_000_000 || starts.some(({ by }) => by === 'no rollout')) continue
    const claimed = (ledger.begins.get(hash) ?? 0) + (ledger.resets.get(hash) ?? 0)
    // One that began with the veto of a node that is excluded goes on.
    const began = Math.max(claimed, Math.min(1, ledger.excluded.size))
    const most = began * (calm && content.nature.kind === 'fails' ? 1 : 1 + mostSilent(schedule))
    // The place of an excluded node is free again.
    const nodes = new Set(starts.map(({ node }) => node).filter((node) => !ledger.excluded.has(node))).size
    if (nodes <= most) continue
    throw new Violation('a content that fails everywhere stops at once', `${nodes} started it, in ${began} generations: at most ${most}`)
  }
}

/**
 * Unless each liar was excluded before the content came. A backup may bring back a config without
 * that.
 */
function mayHaveLiedAbout({ nodes, configs, events }: Schedule, hash: string): boolean {
  const liars = nodes.filter(({ traits }) => traits.liar)
  const came = events.findIndex(({ event }) => event.kind === 'edit' && event.content.hash === hash)
  const before = events.slice(0, Math.max(came, 0)).map(({ event }) => event)
  const isExcluded = (name: string, config: string) =>
    before.some((event) => event.kind === 'exclude' && event.name === name && event.config === config)
  const isIncluded = events.some(({ event }) => event.kind === 'include' && liars.some(({ traits: { name } }) => name === event.name))
  const isTrusted = isIncluded || liars.some(({ traits: { name } }) => !configs.every((config) => isExcluded(name, config.name)))
  return isTrusted || (liars.length > 0 && events.some(({ event }) => event.kind === 'restore'))
}

function contentsOf({ configs, events }: Schedule) {
  return [...configs.map(({ content }) => content), ...events.flatMap(({ event }) => (event.kind === 'edit' ? [event.content] : []))]
}

function mostSilent({ configs, events }: Schedule): number {
  const texts = [...configs.map(({ planText }) => planText), ...events.flatMap(({ event }) => (event.kind === 'plan' ? [event.text] : []))]
  return Math.max(...texts.map((text) => parsePlan(text)).map((parsed) => (parsed.ok ? parsed.plan : DEFAULT_PLAN).maxSilent))
}

/** A begin, and for each stage its claims and their proofs, vetoes, and control planes. */
function writesAreFew({ schedule, ledger, writes }: EndState): void {
  const controlPlanes = schedule.nodes.filter(({ traits }) => traits.controlPlane).length
  const most =
    (ledger.generations + [...ledger.resets.values()].reduce((sum, count) => sum + count, 0)) * (2 * 64 + 10 + 2 * controlPlanes + 8)
  if (writes > most) throw new Violation('writes are few', `${writes} in ${ledger.generations} generations`)
}
