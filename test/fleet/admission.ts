// SPDX-License-Identifier: Apache-2.0
/**
 * The writes that the admission policy of `deploy/` allows, written a second time and without the
 * agent's own parser: every write of an honest node has to pass it, and a lying node is held by it.
 */
import { freeShare, type Plan } from '../../src/rollout/plan.ts'
import type { ConfigObject, RecordObject } from './fleet-api.ts'

const STATE = /^1 [0-9]{1,9} [0-9]{1,2} [-0-9a-f]{1,64} [-0-9a-f]{1,36} [0-9]{1,20} [0-9]{1,9}$/
const FIRST = '1 0 0 - - 0 0'

/** @returns why it is refused */
export function refusal(before: RecordObject, after: RecordObject, writer: string, config: ConfigObject, plan: Plan): string | undefined {
  const was = (before.data.state ?? FIRST).split(' ')
  const stateText = after.data.state ?? FIRST
  const is = stateText.split(' ')
  const mine = `node.${writer}`
  if (config.excluded.includes(writer)) return `${writer} is excluded`
  if (!STATE.test(stateText)) return `state is "${stateText}"`
  for (const [key, value] of Object.entries(after.data)) {
    if (key !== mine && key !== 'state' && before.data[key] !== value) return `${writer} wrote ${key}`
  }
  for (const key of Object.keys(before.data)) {
    const goes = key.startsWith('node.') && !before.data[key]?.startsWith(`${is[1]} `)
    if (!(key in after.data) && !goes) return `${writer} removed ${key} of this generation`
  }
  const isBegin = Number(is[1]) === Number(was[1]) + 1 && is[2] === '0'
  const [counted, countedAfter] = [withoutExcluded(before, config), withoutExcluded(after, config)]
  if (stateText !== (before.data.state ?? FIRST)) {
    const wrong = isBegin ? refuseBegin(was, is, config, plan) : refuseStep(was, is, counted, countedAfter, plan)
    if (wrong !== undefined) return wrong
  }
  const size = Object.entries(after.data).reduce((sum, [key, value]) => sum + key.length + value.length, 0)
  if (size > 6144) return 'the record is larger than 6 KiB'
  return before.data[mine] === after.data[mine] ? undefined : refuseKey(counted, countedAfter, mine, isBegin, plan)
}

function refuseBegin(was: readonly string[], is: readonly string[], config: ConfigObject, plan: Plan): string | undefined {
  if (is[4] !== config.uid || is[5] !== config.resourceVersion) return 'begins another version than the config has'
  if (is[3] !== was[3] && is[4] === was[4] && is[5] === was[5]) return 'begins a second content for one version of the config'
  if (is[6] !== String(plan.retry)) return 'begins with another retry'
  const wasFinished = freeShare(plan, Number(was[2])) === 1
  return is[3] !== was[3] || is[6] !== was[6] || wasFinished ? undefined : 'begins the same again'
}

function refuseStep(
  was: readonly string[],
  is: readonly string[],
  before: RecordObject,
  after: RecordObject,
  plan: Plan,
): string | undefined {
  const same = [1, 3, 4, 5, 6].every((index) => was[index] === is[index])
  if (!same || Number(is[2]) !== Number(was[2]) + 1) return `state goes from "${was.join(' ')}" to "${is.join(' ')}"`
  const turn = `${was[1]} ${was[2]}`
  const proofs = Object.values(after.data).filter((value) => value === `${turn} proof`).length
  const needed = was[2] === '0' ? 1 : plan.witnesses
  if (proofs < needed) return `stage ${was[2]} has ${proofs} of ${needed} proofs`
  const vetoes = countVetoes(before, was[1])
  return vetoes < (was[2] === '0' ? 1 : plan.maxVetoes) ? undefined : `stage ${was[2]} is halted by ${vetoes} vetoes`
}

function refuseKey(before: RecordObject, after: RecordObject, mine: string, isBegin: boolean, plan: Plan): string | undefined {
  const is = (after.data.state ?? FIRST).split(' ')
  const turn = `${is[1]} ${is[2]}`
  const now = after.data[mine] ?? ''
  const then = before.data[mine] ?? ''
  const hadWord = then.startsWith(`${is[1]} `)
  if (now === '') return hadWord ? 'its key of this generation is gone' : undefined
  const vetoes = countVetoes(before, is[1])
  if (new RegExp(`^${turn} claim [0-9]{1,5}( control-plane)?$`).test(now)) {
    if (isBegin) return undefined
    if (hadWord) return 'it claims twice in a generation'
    if (before.data.state !== after.data.state) return 'it claims in a step'
    const isControlPlane = now.endsWith(' control-plane')
    const canHalt = isControlPlane || freeShare(plan, Number(is[2])) < 1
    if (canHalt && vetoes >= (is[2] === '0' ? 1 : plan.maxVetoes)) return 'it claims what is halted'
    return (isControlPlane ? refuseControlPlane(before, is[1]) : undefined) ?? refuseClaim(before, turn, is[2], plan, isControlPlane)
  }
  const [generation, stage, kind] = then.split(' ')
  if (now === `${generation} ${stage} proof`) return kind === 'claim' && hadWord ? undefined : 'it proves what it has not claimed'
  if (!new RegExp(`^${turn} veto .{1,160}$`, 'u').test(now)) return `its key is "${now}"`
  if (isBegin) return undefined
  return vetoes < 5 && !(hadWord && kind === 'veto') ? undefined : 'it vetoes again, or there are five'
}

/** In stage 0 control planes are counted with the others; later they come beside them. */
function refuseClaim(
  before: RecordObject,
  turn: string,
  stage: string | undefined,
  plan: Plan,
  isControlPlane: boolean,
): string | undefined {
  if (isControlPlane && stage !== '0') return undefined
  const claims = Object.values(before.data).filter(
    (value) => value === `${turn} proof` || (value.startsWith(`${turn} claim `) && (stage === '0' || !value.endsWith(' control-plane'))),
  ).length
  const most = (stage === '0' ? 1 : plan.witnesses) + plan.maxSilent
  return claims < most ? undefined : `there are ${claims} claims of ${most}`
}

function refuseControlPlane(before: RecordObject, generation: string | undefined): string | undefined {
  const open = Object.values(before.data).some((value) => value.startsWith(`${generation} `) && value.endsWith(' control-plane'))
  return open ? 'another control plane has a claim without a proof' : undefined
}

/** As if these nodes had written nothing. */
function withoutExcluded({ data, ...rest }: RecordObject, { excluded }: ConfigObject): RecordObject {
  return { ...rest, data: Object.fromEntries(Object.entries(data).filter(([key]) => !excluded.some((node) => key === `node.${node}`))) }
}

function countVetoes({ data }: RecordObject, generation: string | undefined): number {
  return Object.values(data).filter((value) => value.startsWith(`${generation} `) && value.split(' ')[2] === 'veto').length
}
