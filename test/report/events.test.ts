import fc from 'fast-check'
import t from 'tap'
import type { TransitionKind } from '../../src/decision/records.ts'
import { eventOf } from '../../src/report/events.ts'
import { source, transition } from './build.ts'

t.test("a restart makes upstream's event, apart from the component", async (t) => {
  t.same(eventOf(transition(), 'node-1'), {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'node-1.17979cfe362a0000', namespace: 'default' },
    involvedObject: { kind: 'Node', name: 'node-1', uid: 'node-1' },
    type: 'Normal',
    reason: 'KubeletConfigChanged',
    message:
      'Kubelet restarting to use /api/v1/namespaces/kube-system/configmaps/my-node-config, UID: uid-1, ResourceVersion: 212, KubeletConfigKey: kubelet',
    source: { component: 'kubelet-cfg-agent', host: 'node-1' },
    firstTimestamp: '2023-11-14T22:13:20Z',
    lastTimestamp: '2023-11-14T22:13:20Z',
    count: 1,
  })
})

t.test('the event of each transition', async (t) => {
  const kinds: Readonly<Record<TransitionKind, string | undefined>> = {
    restarting: 'Normal KubeletConfigChanged',
    promoted: 'Normal KubeletConfigPromoted',
    rejected: 'Warning KubeletConfigRejected',
    'rolled-back': 'Warning KubeletConfigRolledBack',
    assigned: undefined,
    retrying: undefined,
    'set-aside': undefined,
    'download-failed': 'Warning KubeletConfigDownloadFailed',
    invalid: 'Warning KubeletConfigInvalid',
    synced: undefined,
  }
  for (const [kind, expected] of Object.entries(kinds)) {
    const event = eventOf(transition({ kind: kind as TransitionKind }), 'n')
    t.equal(event && `${event.type} ${event.reason}`, expected, kind)
  }
})

t.test('the time is that of the wall clock, and the name that of the number', async (t) => {
  const event = eventOf(transition({ atNs: '1900000000000000001', wallMs: 1_700_000_000_000 }), 'n')
  t.equal(event?.firstTimestamp, '2023-11-14T22:13:20Z')
  t.equal(event?.metadata.name, `n.${1900000000000000001n.toString(16)}`)
})

t.test('the source in a message', async (t) => {
  const rolledBack = eventOf(transition({ kind: 'rolled-back', from: source(), to: 'local', why: 'kubelet exited 3 times' }), 'n')
  t.match(rolledBack?.message, /rolled back from \/api\/.*my-node-config, UID.* to local config: kubelet exited 3 times$/)
  const rejected = eventOf(transition({ kind: 'rejected', from: source(), to: undefined, why: 'kubeAPIQPS: -1' }), 'n')
  t.match(rejected?.message, /refused before a restart: \/api\/.*: kubeAPIQPS: -1$/)
  const promoted = eventOf(transition({ kind: 'promoted', from: 'local', to: source() }), 'n')
  t.match(promoted?.message, /promoted to last-known-good: \/api\//)
})

t.test("distinct times give distinct names, and messages never exceed the server's limit", async (t) => {
  const property = fc.property(
    fc.bigInt(0n, 2n ** 62n),
    fc.bigInt(0n, 2n ** 62n),
    fc.string({ unit: 'grapheme', maxLength: 3000 }),
    (a, b, why) => {
      const [first, second] = [a, b].map((atNs) => eventOf(transition({ kind: 'rejected', atNs: String(atNs), why }), 'n'))
      const message = first?.message ?? ''
      return (
        (a === b) === (first?.metadata.name === second?.metadata.name) &&
        Buffer.byteLength(message) <= 1024 &&
        (why.includes('\ufffd') || !message.includes('\ufffd'))
      )
    },
  )
  t.doesNotThrow(() => fc.assert(property))
})
