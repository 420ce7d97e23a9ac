/**
 * Guards the fields by which kubelet stays in touch with the API server. Pure: they need no facts
 * about the node, only what runs there, if it is known. Kubelet starts with any value.
 *
 * `runOnce`: kubelet never talks to the API server, and ends without an error (`RunKubelet`,
 * cmd/kubelet/app/server.go, up to 1.31).
 *
 * `contentType`: a request whose type has no encoder fails with "no serializers registered"
 * (`clientNegotiator.Encoder`, k8s.io/apimachinery/pkg/runtime/negotiate.go, compares the whole
 * text), and there is no watch in YAML. CBOR falls back to JSON where its gate is off
 * (`RESTClientFor`, k8s.io/client-go/rest, since 1.32).
 *
 * `nodeLeaseDurationSeconds`: kubelet renews after a quarter of it
 * (`nodeLeaseRenewIntervalFraction`, pkg/kubelet/kubelet.go). By default node controllers call a
 * node lost after 40 s, from 1.32 on 50 s (`NodeMonitorGracePeriod`), so that one renewal must
 * arrive in that time even if it takes some seconds.
 */
import type { NodeProblem, NodeView } from './node-view.ts'

const CBOR = 'application/cbor'
const CBOR_SINCE = 32
const CONTENT_TYPES = ['application/json', 'application/vnd.kubernetes.protobuf', CBOR]

const RENEWALS = 4
const LONGEST_RENEWAL_S = 30

export function checkClient(view: NodeView): NodeProblem[] {
  return [...checkRunOnce(view), ...checkContentType(view), ...checkLease(view)]
}

function checkRunOnce(view: NodeView): NodeProblem[] {
  if (!view.is('runOnce')) return []
  return [
    {
      rule: 'guard/run-once',
      severity: view.running('runOnce') === true ? 'warn' : 'refuse',
      at: 'runOnce',
      problem: 'with runOnce, kubelet runs its static pods once and ends: the node would leave the cluster',
      advice: 'remove the field',
    },
  ]
}

function checkContentType(view: NodeView): NodeProblem[] {
  const type = view.text('contentType')
  const isTooNew = type === CBOR && view.minor !== undefined && view.minor < CBOR_SINCE
  if (type === undefined || (CONTENT_TYPES.includes(type) && !isTooNew)) return []
  return [
    {
      rule: 'guard/content-type',
      severity: view.running('contentType') === type ? 'warn' : 'refuse',
      at: 'contentType',
      problem: `${view.called('contentType')} ${JSON.stringify(type.slice(0, 80))} is unknown to kubelet: it could not talk to the API server`,
      advice: `name one of ${CONTENT_TYPES.filter((name) => name !== CBOR).join(', ')}`,
    },
  ]
}

function checkLease(view: NodeView): NodeProblem[] {
  const seconds = view.number('nodeLeaseDurationSeconds')
  if (seconds === undefined || seconds / RENEWALS <= LONGEST_RENEWAL_S) return []
  const before = view.running('nodeLeaseDurationSeconds')
  return [
    {
      rule: 'guard/node-lease',
      severity: typeof before === 'number' && before >= seconds ? 'warn' : 'refuse',
      at: 'nodeLeaseDurationSeconds',
      problem: `nodeLeaseDurationSeconds ${seconds} makes kubelet renew its lease only every ${seconds / RENEWALS} s: node controllers would call the node lost in between`,
      advice: `set at most ${LONGEST_RENEWAL_S * RENEWALS}; kubelet renews after a quarter of it`,
    },
  ]
}
