// SPDX-License-Identifier: Apache-2.0
/**
 * Evidence `static-pods`: the static pods that ran before run again, the same ones. On a
 * control-plane node they are the control plane. Pure.
 *
 * The path of a manifest is a part of the pod's config hash (`applyDefaults`,
 * pkg/kubelet/config/common.go): the same manifest in another directory is another pod, and
 * replaces the old one.
 */
import { identityOfKey, type TrialKey } from '../subject/trial-key.ts'
import { isFlag, isNumber, isText, listOf, optional, type Shaped, shape, type TypeOf } from '../values/json-shape.ts'
import type { Contract, KindStanding, Moment, NotAsked, View } from './kind.ts'
import { doubtful, no, uncompared, unknown, unread, yes } from './kind.ts'
import { NOT_READY_US } from './ready.ts'

export interface StaticPodsAnswer {
  readonly kind: 'found'
  readonly pods: readonly StaticPod[]
  readonly manifests: readonly Manifest[]
  /** `namespace/name` of every pod with a ready sandbox, whoever assigned it. */
  readonly live: readonly string[]
}

/** A static pod from a file, as the container runtime has it. */
export interface StaticPod {
  /** Annotation `kubernetes.io/config.hash`. */
  readonly hash: string
  /** `namespace/name`; the name ends with the node's. */
  readonly name: string
  /** The pod has a ready sandbox and a running container. */
  readonly isRunning: boolean
  /** Kubelet keeps a ready sandbox for it, and its containers have ended by themselves. */
  readonly isHeld?: boolean | undefined
  /** When the pod's latest sandbox was created, by the clock of the node. */
  readonly startedAtMs?: number | undefined
}

/** A file with static pods. */
export interface Manifest {
  readonly path: string
  readonly digest: string
  /** By the clock of the node. */
  readonly modifiedAtMs: number
  /** `metadata.name`. undefined: it could not be told. */
  readonly podName?: string | undefined
  /** The names in it, of pods and of other things. */
  readonly names: readonly string[]
}

const isStaticPodsSeen = shape({
  missing: listOf(shape({ name: isText, sinceUs: isNumber })),
  /** Pods that run with another config hash, although their manifest is the same. */
  replaced: listOf(isText),
  /** Pods whose sandboxes kubelet keeps, and whose containers have ended by themselves. */
  held: optional(listOf(isText)),
  /** Pods that do not run, and whose manifest changed or was not found. */
  excused: listOf(isText),
  /** Static pods that do not run. Whether they would run without this config is not known. */
  idle: optional(listOf(isText)),
  /** When the last of the pods was seen to run. */
  provenAtUs: optional(isNumber),
  lastUs: isNumber,
  /** Why the last sample has no pods; empty: it has. */
  problem: isText,
})
type StaticPodsSeen = TypeOf<typeof isStaticPodsSeen>
const SEEN = { staticPods: optional(isStaticPodsSeen) }

const manifestFile = { path: isText, digest: isText }
type ManifestFile = Shaped<typeof manifestFile>
const isStaticPodBefore = shape({
  hash: isText,
  /** `namespace/name` */
  name: isText,
  /**
   * undefined: no file was found that names it. `isNewer`: it was modified after the pod was
   * started, so another pod may follow from it. `others`: they name it, too, and any of them may be
   * its own.
   */
  manifest: optional(shape({ ...manifestFile, isNewer: optional(isFlag), others: optional(listOf(shape(manifestFile))) })),
})
type StaticPodBefore = TypeOf<typeof isStaticPodBefore>
const isIdleManifest = shape({
  ...manifestFile,
  /** The name of the manifest's pod, as in the file, or those in it that may be that name. */
  names: listOf(isText),
  /**
   * Kubelet had run for long, with local or a config that had been promoted: it is known that the
   * pod did not run. Else it may have been about to.
   */
  isLasting: optional(isFlag),
})
type IdleManifest = TypeOf<typeof isIdleManifest>
const TAKEN = {
  staticPods: optional(listOf(isStaticPodBefore)),
  /** The manifests of which no pod ran. */
  idle: optional(listOf(isIdleManifest)),
}
type Taken = Shaped<typeof TAKEN> & { readonly livePods?: StaticPodsAnswer['live'] | undefined }
type StaticPodsView = View<Shaped<typeof SEEN>, Taken>
type StaticPodsMoment = Moment<Shaped<typeof SEEN>, Taken>

/** With the 30 s of grace that a pod has by default. */
const MISSING_US = 150e6
const MOST_PODS = 100
const MOST_NAMES = 10

export const STATIC_PODS = {
  kind: 'static-pods',
  loss: 'static pods were lost',
  asksServer: false,
  readsManifests: true,
  seen: SEEN,
  taken: TAKEN,
  firstUs: (trialUs) => Math.min(10e6, trialUs / 10),
  gapUs: ({ process, policy: { trialUs } }) => (process.staticPods?.provenAtUs === undefined ? Math.min(10e6, trialUs / 20) : trialUs / 10),
  take(answer, { nodeName, isPromoted, healthyUs }) {
    if (answer.kind !== 'found') return { livePods: undefined }
    const idle = recordIdle(answer, nodeName, isPromoted && healthyUs >= NOT_READY_US)
    return { staticPods: recordStaticPods(answer, nodeName), idle, livePods: answer.live }
  },
  fold: (answer, moment) => ({ staticPods: foldStaticPods(answer, moment) }),
  skip: ({ staticPods }, later) => ({ staticPods: staticPods && skipUnseen(staticPods, later) }),
  judge: judgeStaticPods,
  isOneWay: ({ taken }) => taken === undefined || !hadLostPods(taken),
  carry: ({ staticPods, idle }, isSameKubelet) => ({
    ...(idle && { idle }),
    staticPods: isSameKubelet ? staticPods : staticPods?.map(markNewer),
  }),
  join: (earlier, later) => ({
    staticPods: joinStaticPods(earlier.staticPods, later.staticPods),
    idle: joinIdle(earlier.idle, later.idle),
  }),
} as const satisfies Contract<StaticPodsAnswer | NotAsked, Shaped<typeof SEEN>, Taken>

/** The static pods that run, each with the file that names it. */
function recordStaticPods({ pods, manifests }: StaticPodsAnswer, nodeName: string): readonly StaticPodBefore[] {
  const running = pods.filter(({ isRunning }) => isRunning).slice(0, MOST_PODS)
  return running.map((pod) => ({ hash: pod.hash, name: pod.name, manifest: findManifest(pod, manifests, nodeName) }))
}

/**
 * The manifests of which no pod runs. A young kubelet may not have started it yet, and a config on
 * trial may have lost it: it is only known to be down where it is so for long otherwise. A file
 * without names is of a pod that may complete.
 */
function recordIdle({ pods, manifests }: StaticPodsAnswer, nodeName: string, isLasting: boolean): readonly IdleManifest[] {
  const named = manifests.map(({ path, digest, podName, names }) => ({ path, digest, names: podName === undefined ? names : [podName] }))
  return named
    .filter((each) => each.names.length > 0 && findPod(each, pods, nodeName)?.isRunning !== true)
    .map((each) => ({ ...each, names: each.names.slice(0, MOST_NAMES), ...(isLasting && { isLasting }) }))
}

/** One that runs, if there is one. */
function findPod({ names }: Pick<IdleManifest, 'names'>, pods: readonly StaticPod[], nodeName: string): StaticPod | undefined {
  const own = pods.filter(({ name }) => names.includes(nameInFile(name, nodeName)))
  return own.find(({ isRunning }) => isRunning) ?? own.find(({ isHeld }) => isHeld === true)
}

/** The idle manifests of both baselines, where the earlier one may know more. */
function joinIdle(earlier: readonly IdleManifest[] = [], later: readonly IdleManifest[] = []): readonly IdleManifest[] {
  const wasLasting = (each: ManifestFile) => earlier.some((other) => other.isLasting === true && isSameManifest(other, each))
  const known = later.map((each) => (wasLasting(each) ? { ...each, isLasting: true } : each))
  return [...known, ...earlier.filter((each) => !later.some(({ path }) => path === each.path))].slice(0, MOST_PODS)
}

function isSameManifest(one: ManifestFile | undefined, other: ManifestFile | undefined): boolean {
  return one !== undefined && one.path === other?.path && one.digest === other.digest
}

/** Kubelet appends the node's name to the name in the manifest (`generatePodName`). */
function nameInFile(name: string, nodeName: string): string {
  return name.slice(name.indexOf('/') + 1).replace(new RegExp(`-${nodeName.replaceAll('.', '\\.')}$`), '')
}

/** A container or a variable of another pod may have the same name. */
function findManifest({ name, startedAtMs }: StaticPod, manifests: readonly Manifest[], nodeName: string): StaticPodBefore['manifest'] {
  const inFile = nameInFile(name, nodeName)
  const own = manifests.filter(({ podName }) => podName === inFile)
  const naming = own.length > 0 ? own : manifests.filter(({ podName, names }) => podName === undefined && names.includes(inFile))
  const [found, ...others] = naming.map(({ path, digest }) => ({ path, digest }))
  if (found === undefined) return undefined
  const isNewer = startedAtMs === undefined || naming.some(({ modifiedAtMs }) => modifiedAtMs > startedAtMs)
  return { ...found, ...(isNewer && { isNewer }), ...(others.length > 0 && { others }) }
}

/** Another kubelet may replace the pod by one with another config hash. */
function markNewer(pod: StaticPodBefore): StaticPodBefore {
  return pod.manifest === undefined ? pod : { ...pod, manifest: { ...pod.manifest, isNewer: true } }
}

function foldStaticPods(answer: StaticPodsAnswer | NotAsked, { process, baseline, atUs, nodeName }: StaticPodsMoment): StaticPodsSeen {
  const before = process.staticPods
  if (answer.kind === 'not-asked') return { missing: [], replaced: [], excused: [], ...before, lastUs: atUs, problem: answer.detail }
  const isSameKubelet = isOfKubelet(baseline ?? {}, process)
  const staticPods = baseline?.staticPods ?? []
  // Another kubelet may replace them.
  const expected = isSameKubelet ? staticPods : staticPods.map(markNewer)
  // Without a baseline of static pods, nothing is known of those that were idle.
  const idle = baseline?.staticPods && (baseline.idle ?? [])
  const absent = expected.filter(({ hash }) => !answer.pods.some((pod) => pod.hash === hash && pod.isRunning))
  // A manifest that someone changed or removed meanwhile explains what happened to its pod.
  const hasSuccessor = (pod: StaticPodBefore) => answer.pods.some(({ name, isRunning }) => name === pod.name && isRunning)
  const isExcused = (pod: StaticPodBefore) =>
    !isUnchanged(pod.manifest, answer.manifests) || (mayBeReplaced(pod.manifest) && hasSuccessor(pod))
  const isHeld = ({ hash }: StaticPodBefore) => answer.pods.some((pod) => pod.hash === hash && pod.isHeld === true)
  const gone = absent.filter((pod) => !isExcused(pod))
  const replaced = [...new Set([...(before?.replaced ?? []), ...gone.filter(hasSuccessor).map(({ name }) => name)])]
  const left = gone.filter(({ name }) => !replaced.includes(name))
  // Where they could not be listed, nobody knows whether one was back meanwhile.
  const known = before?.problem === '' ? before.missing : []
  const missing = left
    .filter((pod) => !isHeld(pod))
    .map(({ name }) => ({ name, sinceUs: known.find((pod) => pod.name === name)?.sinceUs ?? atUs }))
  const held = left.filter(isHeld).map(({ name }) => name)
  const excused = absent.filter(isExcused).map(({ name }) => name)
  const provenAtUs = absent.length > 0 ? undefined : (before?.provenAtUs ?? atUs)
  // Kubelet starts one whose containers end by themselves.
  const isOpen = (each: IdleManifest) =>
    each.isLasting !== true && isUnchanged(each, answer.manifests) && findPod(each, answer.pods, nodeName) === undefined
  const open = (idle ?? recordIdle({ ...answer, manifests: answer.manifests.filter(isOfPod) }, nodeName, false))
    .filter(isOpen)
    .map(({ path }) => path)
  return { missing, replaced, held, excused, provenAtUs, lastUs: atUs, problem: '', ...(open.length > 0 && { idle: open }) }
}

/** Not a note or a backup, of which kubelet makes no pod. */
function isOfPod({ podName }: Manifest): boolean {
  return podName !== undefined
}

/** false also: no manifest was found when the pod ran, so that this is not known. */
function isUnchanged(manifest: StaticPodBefore['manifest'], now: readonly Manifest[]): boolean {
  if (manifest === undefined) return false
  return [manifest, ...(manifest.others ?? [])].every((file) =>
    now.some(({ path, digest }) => path === file.path && digest === file.digest),
  )
}

/** Where several files name the pod, another start of kubelet may take another of them. */
function mayBeReplaced(manifest: StaticPodBefore['manifest']): boolean {
  return manifest?.isNewer === true || manifest?.others !== undefined
}

function skipUnseen(seen: StaticPodsSeen, later: (us: number) => number): StaticPodsSeen {
  return { ...seen, missing: seen.missing.map(({ name, sinceUs }) => ({ name, sinceUs: later(sinceUs) })) }
}

function judgeStaticPods({ process, baseline }: Pick<StaticPodsView, 'process' | 'baseline'>): KindStanding {
  const { staticPods } = process
  if (staticPods === undefined) return unknown('not asked')
  if (staticPods.problem !== '')
    return unread(staticPods.problem, judgeStaticPods({ process: { ...process, staticPods: { ...staticPods, problem: '' } }, baseline }))
  const { missing, replaced, held = [], excused, idle = [], lastUs } = staticPods
  if (baseline?.staticPods === undefined) {
    // A baseline of another config may name some, and the manifests name the others.
    const down = [...missing.map(({ name }) => name), ...idle]
    return down.length > 0 ? uncompared(`static pods do not run: ${listNames(down)}`) : unknown('which static pods ran before is not known')
  }
  if (replaced.length > 0) return no(`static pods were restarted, although their manifests did not change: ${listNames(replaced)}`)
  const [first] = missing
  // Where the API server was down for a while, its clients among the static pods exit again and
  // again.
  if (first === undefined && held.length > 0)
    return doubtful(`containers of static pods ended by themselves, and kubelet has to start them again: ${listNames(held)}`)
  if (first === undefined && idle.length > 0) return uncompared(`static pods do not run: ${listNames(idle)}`)
  if (first === undefined && excused.length > 0)
    return unknown(`static pods do not run whose manifests changed, or are not known: ${listNames(excused)}`)
  if (first === undefined) return yes(`${baseline.staticPods.length} static pods run as before`, staticPods.provenAtUs)
  const sinceUs = Math.min(...missing.map((pod) => pod.sinceUs))
  const detail = `static pods that ran before do not run: ${listNames(missing.map(({ name }) => name))}`
  if (lastUs - sinceUs < MISSING_US) return doubtful(detail, sinceUs)
  // An upgrade that came with the restart may itself refuse a manifest.
  return { ...no(detail, sinceUs), mayBeNodes: !isOfKubelet(baseline, process) }
}

/** Whether the same kubelet ran before, as far as that is known. */
function isOfKubelet({ kubelet }: { readonly kubelet?: string | undefined }, { key }: { readonly key: TrialKey }): boolean {
  return kubelet === undefined || kubelet === identityOfKey(key)
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ')
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown
}

/** Whether static pods had been lost, or replaced, before the baseline was taken. */
function hadLostPods({ earlier, staticPods }: NonNullable<StaticPodsView['taken']>): boolean {
  const joined = joinStaticPods(earlier?.staticPods, staticPods) ?? []
  return joined.some(({ hash }) => !staticPods?.some((pod) => pod.hash === hash))
}

/** A pod whose manifest changed in between is the later one. */
function joinStaticPods(
  earlier: readonly StaticPodBefore[] | undefined,
  later: readonly StaticPodBefore[] | undefined,
): readonly StaticPodBefore[] | undefined {
  if (earlier === undefined || later === undefined) return earlier ?? later
  const kept = earlier.filter((pod) => {
    const successor = later.find(({ name }) => name === pod.name)
    return successor === undefined || isSameManifest(successor.manifest, pod.manifest)
  })
  const added = later.filter(({ name }) => !kept.some((pod) => pod.name === name))
  return [...kept, ...added].slice(0, MOST_PODS)
}

/**
 * As kubeadm names them:
 * https://kubernetes.io/docs/reference/setup-tools/kubeadm/implementation-details/
 */
const COMPONENTS = ['kube-apiserver', 'etcd', 'kube-controller-manager', 'kube-scheduler']

/**
 * Whether a node that has no label of a control plane is one all the same. Static pods alone say
 * nothing: many distributions run kube-proxy or a load balancer in front of the API server as one
 * on each worker.
 */
export function hasControlPlane(staticPods: readonly Pick<StaticPodBefore, 'name'>[], nodeName: string): boolean {
  const podNames = COMPONENTS.map((component) => `${component}-${nodeName}`)
  return staticPods.some(({ name }) => podNames.includes(name.slice(name.indexOf('/') + 1)))
}
