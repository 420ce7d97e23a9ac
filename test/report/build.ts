// SPDX-License-Identifier: Apache-2.0
/** Fixtures of the report tests: sources, a settled snapshot, transitions. */

import type { Desired } from '../../src/decision/desired.ts'
import type { Transition } from '../../src/decision/records.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Verdict } from '../../src/decision/verdict.ts'
import { ALL_REQUIRED } from '../../src/evidence/kinds.ts'
import { type ConfigMapSource, type HeldSource, LOCAL } from '../../src/subject/config-source.ts'
import { trialKey } from '../../src/subject/trial-key.ts'
import type { UnitState } from '../../src/subject/unit-state.ts'
import { envWiring } from '../../src/systemd/wiring-kinds.ts'

export const IDENTITY = 'kubelet-1'

export function source(resourceVersion = '212', fields: Partial<ConfigMapSource> = {}): ConfigMapSource {
  return { namespace: 'kube-system', name: 'my-node-config', kubeletConfigKey: 'kubelet', uid: 'uid-1', resourceVersion, ...fields }
}

export function held(of: ConfigMapSource, content = `content-${of.resourceVersion}`): HeldSource {
  return { source: of, content }
}

export function found(of: ConfigMapSource): Desired {
  return { kind: 'config-map', ref: of, object: { kind: 'found', uid: of.uid, resourceVersion: of.resourceVersion, data: {} } }
}

export function runningContent(content: string): Snapshot['running'] {
  return { kind: 'known', content, key: trialKey(content, IDENTITY), startedAtUs: 1e6, invocationId: 'i1' }
}

type KnownUnit = Extract<UnitState, { kind: 'known' }>

export function unit(fields: Partial<KnownUnit> = {}): KnownUnit {
  return {
    kind: 'known',
    activity: 'running',
    summary: 'active (running)',
    invocationId: 'i1',
    nRestarts: 0,
    startedAtUs: 1e6,
    kubeletIdentity: IDENTITY,
    process: { kind: 'other', pid: 1, configPath: '/var/lib/kubelet/config.yaml' },
    localConfigPath: '/var/lib/kubelet/config.yaml',
    runtimeEndpoint: undefined,
    healthzFlags: {},
    command: undefined,
    wiring: envWiring('/var/lib/kubelet-cfg-agent/kubelet.env', '--config=/var/lib/kubelet/config.yaml'),
    ...fields,
  }
}

/** A node that never had an assignment. */
export function snapshot(fields: Partial<Snapshot> = {}): Snapshot {
  return {
    now: { bootId: 'b1', monotonicUs: 100e6, wallMs: 1_700_000_000_000 },
    nodeName: 'node-1',
    policy: {
      trialUs: 600e6,
      startDeadlineUs: 120e6,
      toleranceUs: 60e6,
      crashLimit: 3,
      spreadUs: 120e6,
      restartsPerHour: 6,
      whenRefused: 'stay',
      keepCheckpoints: 10,
      evidence: ALL_REQUIRED,
    },
    desired: { kind: 'local' },
    desiredContent: undefined,
    storedUnrendered: undefined,
    storedContent: undefined,
    requests: { hold: 'none', rollback: undefined, retry: false },
    suspendedVerdicts: new Map(),
    recordedChannelState: undefined,
    stagings: [],
    assigned: { kind: 'source', source: 'local' },
    assignedContent: LOCAL.content,
    lastKnownGood: LOCAL,
    previous: LOCAL,
    proven: undefined,
    verdicts: new Map(),
    accepted: new Map(),
    preflightPending: new Set(),
    basis: undefined,
    drained: undefined,
    unit: unit(),
    nextStart: { kind: 'known', held: LOCAL },
    running: runningContent('local'),
    health: undefined,
    healthz: { ok: true, detail: 'ok' },
    evidence: undefined,
    runtimeUp: undefined,
    restarts: [],
    spread: undefined,
    checkpoints: [],
    troubles: [],
    ...fields,
  }
}

/** The desired config is assigned, activated and runs. */
export function following(of: ConfigMapSource, fields: Partial<Snapshot> = {}): Snapshot {
  const { content } = held(of)
  return snapshot({
    desired: found(of),
    desiredContent: content,
    assigned: { kind: 'source', source: of },
    assignedContent: content,
    nextStart: { kind: 'known', held: held(of) },
    running: runningContent(content ?? ''),
    ...fields,
  })
}

export function verdictOn(content: string, fields: Partial<Verdict> = {}): ReadonlyMap<string, Verdict> {
  const key = trialKey(content, IDENTITY)
  return new Map([
    [key, { key, state: 'confirmed', reason: 'crash-loop', detail: 'kubelet exited 3 times', source: source(), atWallMs: 0, ...fields }],
  ])
}

export function transition(fields: Partial<Transition> = {}): Transition {
  return { atNs: '1700000000000000000', kind: 'restarting', from: 'local', to: source(), why: 'because', ...fields }
}
