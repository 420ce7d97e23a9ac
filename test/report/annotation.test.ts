// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { AcceptedWarnings } from '../../src/report/accepted-warnings.ts'
import { describeInAnnotation } from '../../src/report/annotation.ts'
import { type Deadlines, NO_DEADLINES } from '../../src/report/deadlines.ts'
import { describeStatus } from '../../src/report/status.ts'
import { trialKey } from '../../src/subject/trial-key.ts'
import { FakeDisk } from '../checkpoint/fake/fake-disk.ts'
import { anySnapshot } from '../decision/any-snapshot.ts'
import { following, held, IDENTITY, runningContent, snapshot, source, unit, verdictOn } from './build.ts'
import { FakeLog } from './fakes.ts'

const good = source('100')
const text = (of: Snapshot, deadlines: Deadlines = NO_DEADLINES) =>
  describeInAnnotation(of, describeStatus(of, 'settled'), deadlines, '1.2.3')

t.test('local is absent, as in NodeConfigStatus, and unknown is not local', async (t) => {
  t.equal(text(snapshot()), '{"contentHash":"local","agentVersion":"1.2.3"}')
  t.equal(text(snapshot({ running: { kind: 'none' } })), '{"active":{},"agentVersion":"1.2.3"}')
})

t.test('all fields, in order', async (t) => {
  const of = following(source('200'), {
    lastKnownGood: held(good),
    nextStart: { kind: 'known', held: held(good) },
    running: runningContent('content-100'),
    recordedChannelState: { channel: 'label', paused: { on: 'Node', by: 'annotation x of Node n' }, problem: undefined },
    verdicts: verdictOn('content-200', { state: 'refused', reason: 'validate' }),
  })
  const deadlines = { trial: { sinceMs: 0, untilMs: 600_000 }, waitUntilMs: 60_000 }
  const sourceOf = (resourceVersion: string) => ({
    configMap: { kubeletConfigKey: 'kubelet', name: 'my-node-config', namespace: 'kube-system', resourceVersion, uid: 'uid-1' },
  })
  t.equal(
    text(of, deadlines),
    JSON.stringify({
      assigned: sourceOf('200'),
      active: sourceOf('100'),
      lastKnownGood: sourceOf('100'),
      error: 'failed to validate config: kubelet exited 3 times',
      channel: 'label',
      paused: 'paused by annotation x of Node n',
      trial: { since: '1970-01-01T00:00:00Z', until: '1970-01-01T00:10:00Z' },
      waitUntil: '1970-01-01T00:01:00Z',
      verdict: { state: 'refused', reason: 'validate' },
      contentHash: 'content-100',
      agentVersion: '1.2.3',
    }),
  )
})

t.test('a ConfigMap whose first read had no answer is no error for a minute, but in that of upstream field', async (t) => {
  const after = (seconds: number) => {
    const stale = { what: 'ConfigMap', reason: 'unreachable', sinceUs: snapshot().now.monotonicUs - seconds * 1e6 } as const
    const object = { kind: 'unavailable', reason: 'unreachable', detail: '' } as const
    return following(good, { desired: { kind: 'config-map', ref: good, object, stale } })
  }
  const error = (of: Snapshot) => JSON.parse(text(of)).error
  t.equal(error(after(59)), undefined)
  t.match(error(after(60)), /^failed to sync: failed to download config: the API server does not answer$/)
  t.match(describeStatus(after(59), 'settled').error, /^failed to sync: failed to download config/)
})

t.test('it contains no path of the node', async (t) => {
  t.notMatch(text(snapshot({ running: runningContent('other:/etc/kubelet.yaml') })), '/etc')
})

t.test('its size is bounded for any names and texts', async () => {
  const long = source('9'.repeat(20), {
    namespace: 'n'.repeat(63),
    name: 'm'.repeat(253),
    kubeletConfigKey: 'k'.repeat(253),
    uid: 'u'.repeat(36),
  })
  const options = { files: new DurableFiles(new FakeDisk(() => 0)), directory: '/d', log: new FakeLog() }
  const others = fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\u0000', 'é', '💥', 'a'), maxLength: 5000 })
  const property = fc.property(anySnapshot, others, (of, text) => {
    const channelState = { channel: 'config-source', paused: { on: 'Node', by: text }, problem: text } as const
    const worst: Snapshot = {
      ...of,
      recordedChannelState: channelState,
      desired: { kind: 'invalid', detail: text, channelState },
      assigned: { kind: 'source', source: long },
      lastKnownGood: held(long),
    }
    const status = { ...describeStatus(worst, 'settled'), active: long }
    const accepted = new Map([[trialKey('content-1', IDENTITY), { drain: [], remarks: [text, ...text.split('a')] }]])
    const warnings = new AcceptedWarnings(options).see({ unit: unit(), assignedContent: 'content-1', accepted })
    const deadlines = { trial: { sinceMs: 0, untilMs: 1 }, waitUntilMs: 1 }
    const written = describeInAnnotation(worst, status, deadlines, '1.2.3', undefined, warnings)
    JSON.parse(written)
    return Buffer.byteLength(written) <= 4096 && !written.includes('\\u')
  })
  fc.assert(property, { numRuns: 300 })
})
