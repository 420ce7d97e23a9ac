/**
 * Carries one step out: one executor per kind, each idempotent. History goes first, so that a crash can repeat a line but never lose one;
 * then the effect. An executor throws when the effect did not happen; the loop tries again later.
 */
import { isDeepStrictEqual } from 'node:util'
import { findBasePath } from '../decision/base-config.ts'
import { describeChannel } from '../decision/channels.ts'
import type { ConfigMapData, ConfigMapSource, ConfigSource } from '../decision/config-source.ts'
import { describeSource, sameRef, sameVersion, withoutOverlay } from '../decision/config-source.ts'
import type { Channel } from '../decision/desired.ts'
import { expectStart } from '../decision/health-record.ts'
import { keepRestarts } from '../decision/restarts.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { restartingMessage, sourcePath } from '../decision/status-texts.ts'
import type { Step, StepOf } from '../decision/step.ts'
import type { TrialKey } from '../decision/trial-key.ts'
import type { Acceptance } from '../decision/verdict.ts'
import type { Activation } from '../ports/activation.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { Preflight } from '../ports/preflight.ts'
import type { Checkpoints, History, OperatorRequests, Records, RuntimeRecords } from '../ports/store.ts'
import type { Unit } from '../ports/unit.ts'

/** Everything the agent can touch. */
export interface EffectPorts {
  readonly clock: Clock
  readonly checkpoints: Checkpoints
  readonly records: Records
  readonly runtime: RuntimeRecords
  readonly requests: Pick<OperatorRequests, 'done'>
  readonly unit: Pick<Unit, 'restart'>
  readonly activation: Pick<Activation, 'stage' | 'activate'>
  readonly preflight: Preflight
  readonly history: History
  readonly log: Log
  /** A cache, filled again when it is lost. */
  readonly accepted: Map<TrialKey, Acceptance>
}

export type Action = Exclude<Step, { kind: 'wait' }>

type Executors = { readonly [K in Action['kind']]: (hands: EffectPorts, step: StepOf<K>, snapshot: Snapshot) => void | Promise<void> }

export async function perform(hands: EffectPorts, step: Action, snapshot: Snapshot): Promise<void> {
  const execute = EXECUTORS[step.kind] as (hands: EffectPorts, step: Action, snapshot: Snapshot) => void | Promise<void>
  await execute(hands, step, snapshot)
}

const EXECUTORS: Executors = {
  forgive({ records, runtime, requests, history, log }, step, { health }) {
    history.append({ kind: 'retrying', from: undefined, to: undefined, why: step.why })
    for (const key of step.keys) records.removeVerdict(key)
    // What is forgiven is not charged again.
    if (health !== undefined) runtime.writeHealth({ ...health, exits: 0 })
    log.info('verdicts dropped, trying again', { why: step.why, verdicts: step.keys.length })
    if (step.asked) requests.done('retry')
  },

  'drop-rollback'({ requests, log }) {
    log.info('rollback was asked for, but what it names is no longer in use')
    requests.done('rollback')
  },

  assign({ checkpoints, records, runtime, history, log, clock }, { source, data, rendered, inPlace }, snapshot) {
    const channel = snapshot.desired.channelState?.channel ?? 'config-source'
    const upstream = channel === 'config-source'
    if (upstream) log.info('Node.Spec.ConfigSource is non-empty, will checkpoint source and update config if necessary')
    else log.info(`assigned by ${describeChannel(channel)}, will checkpoint source and update config if necessary`)
    const labels = `${sourcePath(source)}, UID: ${source.uid}, ResourceVersion: ${source.resourceVersion}`
    const before = checkpoints.content(source)
    if (before !== undefined && before === snapshot.desiredContent) log.info(`checkpoint already exists for ${labels}`)
    const assigned = snapshot.assigned.kind === 'source' ? snapshot.assigned.source : undefined
    history.append({ kind: 'assigned', from: assigned, to: source, why: whyAssigned(assigned, source, channel) })
    const { uid, resourceVersion, overlay } = source
    if (overlay !== undefined) saveBeneath(checkpoints, source, data, snapshot, log)
    const content = rendered ?? data
    if (before === undefined || before === snapshot.desiredContent) checkpoints.save(uid, resourceVersion, content, overlay)
    else {
      // What was proven were the other bytes: no fallback may name these before their trial.
      const { lastKnownGood, previous } = snapshot
      const fallback = sameVersion(previous.source, source) ? 'local' : previous.source
      if (fallback !== previous.source) records.write('previous', fallback)
      if (sameVersion(lastKnownGood.source, source)) {
        records.writeProven(undefined)
        records.write('last-known-good', fallback)
      }
      const why = 'the cluster gave this version other content, as after a restored etcd'
      checkpoints.replace(uid, resourceVersion, content, why, overlay)
    }
    const now = clock.now()
    // Where the Node's own assignment changed there is no turn to wait for, even if this version once had one.
    const sinceUs = inPlace ? now.monotonicUs : now.monotonicUs - snapshot.policy.spreadUs
    if (inPlace || runtime.spread() !== undefined) runtime.writeSpread({ bootId: now.bootId, source, sinceUs })
    records.write('assigned', source)
  },

  'reset-to-local'({ records, history, log }, { from }, snapshot) {
    const asked = snapshot.requests.hold === 'local'
    // What is heard now is that nothing is assigned; who assigned before is in the record, or was there for no other to see.
    const before = snapshot.recordedChannelState?.channel ?? 'config-source'
    const removed = before === 'config-source' ? 'Node.Spec.ConfigSource was removed' : `no longer assigned by ${describeChannel(before)}`
    const why = asked ? 'reset was asked for on the node' : removed
    if (asked) log.info('reset was asked for on the node, will reset assigned and last-known-good to defaults')
    else if (before !== 'config-source') log.info(`${removed}, will reset assigned and last-known-good to defaults`)
    else log.info('Node.Spec.ConfigSource is empty, will reset assigned and last-known-good to defaults')
    history.append({ kind: 'assigned', from, to: 'local', why })
    records.write('assigned', 'local')
    // What is assigned after this has its whole trial again, even what passed one before.
    records.writeProven(undefined)
    records.write('last-known-good', 'local')
    records.write('previous', 'local')
  },

  'record-channel'({ records, log }, { channelState }, { recordedChannelState: before }) {
    records.writeChannelState(channelState)
    if (channelState.paused !== undefined && channelState.paused.by !== before?.paused?.by)
      log.info(`paused by ${channelState.paused.by}: nothing is activated or restarted until that is gone`)
    if (channelState.paused === undefined && before?.paused !== undefined) log.info('the cluster no longer pauses this node')
  },

  condemn({ records, requests, history, log }, { verdict, next, asked }) {
    history.append({ kind: 'rolled-back', from: verdict.source, to: next, why: verdict.detail })
    records.writeVerdict(verdict)
    const fields = { source: verdict.source, next, reason: verdict.reason, detail: verdict.detail }
    if (asked) log.warn(`rolling back from ${describeSource(verdict.source)} as asked for on the node`, fields)
    else if (next === undefined) log.error('config failed, and every other one has failed too', fields)
    else log.error(`config failed, rolling back from ${describeSource(verdict.source)} to ${describeSource(next)}`, fields)
    if (asked) requests.done('rollback')
  },

  confirm({ records, log }, { verdicts }) {
    for (const verdict of verdicts) {
      records.writeVerdict({ ...verdict, state: 'confirmed' })
      log.info('verdict confirmed: kubelet is healthy without this config', { source: verdict.source, reason: verdict.reason })
    }
  },

  async preflight({ preflight, checkpoints, records, history, log, accepted, clock }, { source, key, data, fallback }, snapshot) {
    const files = data ?? checkpoints.data(source.uid, source.resourceVersion, source.overlay)
    if (files === undefined)
      throw new Error(`the checkpoint of ${describeSource(source)} cannot be read; it is downloaded again if the cluster has it`)
    const { unit } = snapshot
    if (unit.kind === 'unknown') throw new Error(`which kubelet ${describeSource(source)} is for cannot be told: ${unit.detail}`)
    const before = records.verdicts().get(key)
    // Of the same moment as the judgement: one that is overtaken is asked for again.
    const basis = preflight.basis()
    const askedUs = clock.now().monotonicUs
    const result = await preflight.check({ source, data: files, key, fallback, unit, basePath: findBasePath(checkpoints, unit, snapshot) })
    log.debug('preflight answered', { source, answer: result.kind, tookMs: (clock.now().monotonicUs - askedUs) / 1000 })
    switch (result.kind) {
      case 'pending':
        return
      case 'accepted':
        // The same again is no news.
        if (!accepted.has(key)) for (const remark of result.remarks) log.warn(remark, { source })
        accepted.set(key, { drain: result.drain, basis })
        if (before?.state !== 'refused') return
        history.append({ kind: 'retrying', from: undefined, to: source, why: 'preflight accepts what it had refused' })
        log.info('preflight accepts what it had refused', { source })
        records.removeVerdict(key)
        return
      case 'refused': {
        const { reason, detail } = result
        accepted.delete(key)
        // The same refusal again is no news.
        if (before?.state !== 'refused' || before.detail !== detail) {
          history.append({ kind: 'rejected', from: source, to: undefined, why: detail })
          log.error(`failed to ${reason} config${source.overlay === undefined ? '' : ", as this node's overlay makes it"}: ${detail}`, {
            source,
          })
        }
        records.writeVerdict({ key, state: 'refused', reason, detail, source, atWallMs: clock.now().wallMs, basis })
      }
    }
  },

  activate({ activation, log }, { target, fallback, wiring }) {
    if (fallback !== undefined) activation.stage(fallback, wiring)
    try {
      activation.activate(target, wiring)
    } catch (cause) {
      // A fallback that cannot be written (a full disk) must not leave kubelet on what failed: going to local writes nothing.
      if (fallback === undefined && target !== 'local') activation.activate('local', wiring)
      throw cause
    }
    log.info(`activated ${describeSource(target)}: kubelet uses it at its next start`, { source: target })
  },

  async restart({ unit, runtime, history, log, clock, accepted }, { record, from, to }, snapshot) {
    // From what runs afterwards, every other config is another change.
    for (const key of accepted.keys()) if (key !== record.target) accepted.delete(key)
    const records = keepRestarts(snapshot.restarts, clock.now())
    history.append({ kind: 'restarting', from, to, why: record.fallback ? 'falling back' : 'what is wanted has changed' })
    runtime.writeRestarts([...records, record])
    const expected = expectStart(snapshot.health)
    if (expected !== undefined) runtime.writeHealth(expected)
    log.info(restartingMessage(to), { from, to })
    const outcome = await unit.restart(record.failed ? 'failed' : 'other')
    runtime.writeRestarts([...records, { ...record, outcome: { ok: outcome.ok, detail: outcome.ok ? '' : outcome.detail } }])
    if (!outcome.ok) log.error('systemd would not restart kubelet', { detail: outcome.detail })
  },

  prove({ records, log }, { key }) {
    records.writeProven(key)
    log.debug('trial passed', { key })
  },

  promote({ records, history, log }, { target, previous }, snapshot) {
    history.append({ kind: 'promoted', from: snapshot.lastKnownGood.source, to: target.source, why: 'trial passed' })
    if (previous !== undefined) records.write('previous', previous)
    records.write('last-known-good', target.source)
    log.info(`updated last-known-good config to ${labelSource(target.source)}`, { source: target.source })
  },

  'forget-fallback'({ records, history, log }, { record, source }) {
    const why = `the checkpoint of ${describeSource(source)} is gone and cannot be downloaded again: ${record} is local from now on`
    history.append({ kind: 'set-aside', from: source, to: 'local', why })
    // Should the same content be assigned again, it has its trial again.
    if (record === 'last-known-good') records.writeProven(undefined)
    records.write(record, 'local')
    log.error(why, { source })
  },

  prune({ checkpoints, log }, step) {
    for (const { uid, resourceVersion, overlay } of step.checkpoints) {
      checkpoints.remove(uid, resourceVersion, overlay)
      log.debug('old checkpoint removed', { uid, resourceVersion, overlay })
    }
  },
}

function whyAssigned(before: ConfigSource | undefined, source: ConfigMapSource, channel: Channel): string {
  if (before !== undefined && before !== 'local' && sameRef(before, source)) {
    const isSame = sameVersion(withoutOverlay(before), withoutOverlay(source))
    return isSame && before.overlay !== source.overlay ? "this node's overlay makes something else of it" : 'ConfigMap was updated'
  }
  return channel === 'config-source' ? 'Node.Spec.ConfigSource was updated' : `assigned by ${describeChannel(channel)}`
}

/**
 * The ConfigMap as it came, which kubelet does not start with: so it is kept only where nothing is, and never under a name that kubelet may start with, for this
 * content was not judged.
 */
function saveBeneath(checkpoints: Checkpoints, source: ConfigMapSource, data: ConfigMapData, snapshot: Snapshot, log: Log): void {
  const beneath = withoutOverlay(source)
  const { nextStart, lastKnownGood, previous } = snapshot
  const named = [lastKnownGood.source, previous.source, ...(nextStart.kind === 'known' ? [nextStart.held.source] : [])]
  const kept = checkpoints.data(beneath.uid, beneath.resourceVersion)
  if (isDeepStrictEqual(kept, data)) return
  if (kept !== undefined)
    log.warn(`what ${describeSource(beneath)} has on disk is not what the cluster has: it is left as it is`, { source: beneath })
  else if (nextStart.kind === 'unknown' || named.some((one) => sameVersion(one, beneath)))
    log.warn(`${describeSource(beneath)} is not kept as it came: kubelet may start with it, and it was not judged`, { source: beneath })
  else checkpoints.save(beneath.uid, beneath.resourceVersion, data)
}

function labelSource(source: ConfigSource): string {
  return source === 'local' ? 'local' : `${sourcePath(source)}, UID: ${source.uid}, ResourceVersion: ${source.resourceVersion}`
}
