// SPDX-License-Identifier: Apache-2.0
/**
 * Changes that do nothing on a node that is in its cluster, or something at once that their value
 * does not tell: for `diff`, `plan` and preflight. Pure.
 *
 * Registration: kubelet sends these fields with the Node that it creates (`initialNode`,
 * pkg/kubelet/kubelet_node_status.go, 1.20 to 1.37). Of a Node that is there it only reconciles an
 * annotation, some labels, extended resources and huge pages (`tryRegisterWithAPIServer`), and with
 * registerNode: false not even these.
 *
 * The serving certificate: a kubelet with serverTLSBootstrap makes none itself (`InitializeTLS`,
 * cmd/kubelet/app/server.go), and nothing in Kubernetes approves its request. Until then it serves
 * with the certificate of the config, if there is one (`fileStore.Current`,
 * k8s.io/client-go/util/certificate).
 */
import { OTHERWISE } from '../../decision/verdict.ts'
import type { KubeletConfig } from '../../kubelet/decode.ts'
import { isObject } from '../../values/is-object.ts'
import type { ConfigDocument } from '../document.ts'
import { type Finding, locateNearest } from '../finding.ts'
import type { Change, Side } from './change.ts'
import type { RowName } from './field-rows.ts'
import { type KubeletFlags, overridingFlag } from './kubelet-flags.ts'

export interface Effect {
  readonly rule: 'change/registration' | 'change/serving-certificate' | 'change/kept-cpus'
  readonly problem: string
  readonly advice: string
}

const KEEPS_ID = 'the Node keeps its spec.providerID, which nobody can change once it is set'
const AGAIN = 'drain the node, delete its Node and restart kubelet, which then creates it anew'

type FindEffect = (change: Change, after: KubeletConfig) => Effect | undefined

const EFFECTS: ReadonlyMap<string, FindEffect> = new Map<RowName, FindEffect>([
  ['registerWithTaints', ({ before, after }) => registration('registerWithTaints', `${describeTaints(before, after)}; or ${AGAIN}`)],
  ['registerNode', () => registration('registerNode', 'leave it as it is, unless the Node is to be deleted')],
  ['providerID', () => registration('providerID', `${KEEPS_ID}; for another one, ${AGAIN}`)],
  ['cpuManagerPolicy', ({ before }) => (before?.value === 'static' ? KEPT_CPUS : undefined)],
  [
    'enableControllerAttachDetach',
    ({ after }, { registerNode }) => (registerNode === false ? leftAnnotation(after?.value === true) : undefined),
  ],
  [
    'serverTLSBootstrap',
    ({ before, after }, { tlsCertFile }) => (before?.value === true || after?.value !== true || tlsCertFile ? undefined : SERVING),
  ],
])

/** undefined: the value of the field tells all. */
export function effectOf(change: Change, after: KubeletConfig): Effect | undefined {
  return change.risk === 'none' ? undefined : EFFECTS.get(change.path.join('.'))?.(change, after)
}

/** @param after the config with the changes, and with kubelet's flags */
export function findEffects(
  changes: readonly Change[],
  after: KubeletConfig,
  flags: KubeletFlags,
  document: Pick<ConfigDocument, 'locate'>,
): Finding[] {
  return changes.flatMap((change): Finding[] => {
    const { path } = change
    const effect = overridingFlag(path, flags) === undefined ? effectOf(change, after) : undefined
    return effect === undefined ? [] : [{ ...effect, severity: 'warn', reason: 'validate', path, position: locateNearest(document, path) }]
  })
}

function registration(field: RowName, advice: string): Effect {
  const problem = `changing ${field} has no effect on a registered Node: kubelet reads it only when it creates its Node`
  return { rule: 'change/registration', problem, advice }
}

/** `initialNode` sets it, and only a kubelet that registers its Node reconciles it. */
function leftAnnotation(isOn: boolean): Effect {
  const annotation = 'volumes.kubernetes.io/controller-managed-attach-detach'
  return {
    rule: 'change/registration',
    problem: `with registerNode: false, kubelet leaves the annotation ${annotation} as it is, and the controller that attaches volumes goes by that`,
    advice: `change the Node itself at the same time: kubectl annotate node NODE ${isOn ? `${annotation}=true` : `${annotation}-`}`,
  }
}

const SERVING: Effect = {
  rule: 'change/serving-certificate',
  problem:
    'with serverTLSBootstrap, kubelet has no serving certificate until its request is approved: logs, exec, port forwarding and metrics fail until then',
  advice:
    'approve the request after the restart (kubectl get csr, then kubectl certificate approve NAME), or run a controller that approves kubernetes.io/kubelet-serving',
}

const KEPT_CPUS: Effect = {
  rule: 'change/kept-cpus',
  problem: `${OTHERWISE} changes the CPUs of no container that runs: each keeps those that the static policy gave it`,
  advice: 'make containers anew that must not: delete their pods',
}

/** Words that a shell takes literally, as names and labels of Kubernetes are. */
const PLAIN = /^[\w./-]+$/

/** The command that does what the change does not. */
function describeTaints(before: Side | undefined, after: Side | undefined): string {
  const [was, is] = [listTaints(before), listTaints(after)]
  const removed = [...was.keys()].filter((name) => !is.has(name)).map((name) => `${name}-`)
  const set = [...is].flatMap(([name, text]) => (was.get(name) === text ? [] : [text]))
  const words = [...removed, ...set]
  const isPlain = words.length > 0 && words.every((word) => PLAIN.test(word.replace(/[=:]/g, '')))
  return `change the Node itself: kubectl taint nodes NODE ${isPlain ? words.join(' ') : 'KEY=VALUE:EFFECT'} --overwrite`
}

/** As kubectl writes them, by key and effect, of which a Node has one. */
function listTaints(side: Side | undefined): ReadonlyMap<string, string> {
  const taints = Array.isArray(side?.value) ? side.value.filter(isObject) : []
  return new Map(
    taints.map(({ key, value, effect }) => {
      const name = `${key}:${effect}`
      return [name, value === undefined || value === null || value === '' ? name : `${key}=${value}:${effect}`]
    }),
  )
}
