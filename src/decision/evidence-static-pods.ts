/**
 * Evidence `static-pods`: the static pods that ran before run again, the same ones. On a
 * control-plane node they are the control plane. Pure.
 *
 * The path of a manifest is a part of the pod's config hash (`applyDefaults`,
 * pkg/kubelet/config/common.go): the same manifest in another directory is another pod, and
 * replaces the old one.
 */
import { doubtful, type KindStanding, no, uncompared, unknown, yes } from './evidence.ts'
import type { Manifest, NotAsked, StaticPod, StaticPodsAnswer } from './evidence-facts.ts'
import type { EvidenceView, IdleManifest, ManifestFile, StaticPodBefore, StaticPodsSeen } from './evidence-state.ts'

/** With the 30 s of grace that a pod has by default. */
const MISSING_US = 150e6
export const MOST_PODS = 100
const MOST_NAMES = 10

/** The static pods that run, each with the file that names it. */
export function recordStaticPods({ pods, manifests }: StaticPodsAnswer, nodeName: string): readonly StaticPodBefore[] {
  const running = pods.filter(({ isRunning }) => isRunning).slice(0, MOST_PODS)
  return running.map((pod) => ({ hash: pod.hash, name: pod.name, manifest: findManifest(pod, manifests, nodeName) }))
}

/**
 * The manifests of which no pod runs. A young kubelet may not have started it yet, and a config on
 * trial may have lost it: it is only known to be down where it is so for long otherwise. A file
 * without names is of a pod that may complete.
 */
export function recordIdle({ pods, manifests }: StaticPodsAnswer, nodeName: string, isLasting: boolean): readonly IdleManifest[] {
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

/** Those of both, where the earlier one may know more. */
export function joinIdle(earlier: readonly IdleManifest[] = [], later: readonly IdleManifest[] = []): readonly IdleManifest[] {
  const wasLasting = (each: ManifestFile) => earlier.some((other) => other.isLasting === true && isSameManifest(other, each))
  const known = later.map((each) => (wasLasting(each) ? { ...each, isLasting: true } : each))
  return [...known, ...earlier.filter((each) => !later.some(({ path }) => path === each.path))].slice(0, MOST_PODS)
}

export function isSameManifest(one: ManifestFile | undefined, other: ManifestFile | undefined): boolean {
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
export function markNewer(pod: StaticPodBefore): StaticPodBefore {
  return pod.manifest === undefined ? pod : { ...pod, manifest: { ...pod.manifest, isNewer: true } }
}

/** How the static pods were before, which a process is compared with. */
export interface Expectation {
  readonly expected: readonly StaticPodBefore[]
  /** undefined: there is no baseline of static pods. */
  readonly idle: readonly IdleManifest[] | undefined
  readonly nodeName: string
}

export function foldStaticPods(
  before: StaticPodsSeen | undefined,
  answer: StaticPodsAnswer | NotAsked,
  atUs: number,
  { expected, idle, nodeName }: Expectation,
): StaticPodsSeen {
  if (answer.kind === 'not-asked') {
    const nothing = { missing: [], replaced: [], excused: [] }
    // Whether those that were missing are back meanwhile is not known.
    return { ...(before ?? nothing), missing: [], lastUs: atUs, problem: answer.detail }
  }
  const absent = expected.filter(({ hash }) => !answer.pods.some((pod) => pod.hash === hash && pod.isRunning))
  // A manifest that someone changed or removed meanwhile explains what happened to its pod.
  const hasSuccessor = (pod: StaticPodBefore) => answer.pods.some((other) => isSuccessor(other, pod))
  const isExcused = (pod: StaticPodBefore) =>
    !isUnchanged(pod.manifest, answer.manifests) || (mayBeReplaced(pod.manifest) && hasSuccessor(pod))
  const isHeld = ({ hash }: StaticPodBefore) => answer.pods.some((pod) => pod.hash === hash && pod.isHeld === true)
  const gone = absent.filter((pod) => !isExcused(pod))
  const replaced = [...new Set([...(before?.replaced ?? []), ...gone.filter(hasSuccessor).map(({ name }) => name)])]
  const left = gone.filter(({ name }) => !replaced.includes(name))
  const missing = left
    .filter((pod) => !isHeld(pod))
    .map(({ name }) => ({ name, sinceUs: before?.missing.find((known) => known.name === name)?.sinceUs ?? atUs }))
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

function isSuccessor(other: StaticPod, pod: StaticPodBefore): boolean {
  return other.name === pod.name && other.hash !== pod.hash && other.isRunning
}

export function judgeStaticPods({ process, baseline }: EvidenceView): KindStanding {
  const { staticPods } = process
  if (staticPods === undefined) return unknown('not asked')
  if (staticPods.problem !== '') return unknown(staticPods.problem)
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
  return lastUs - sinceUs >= MISSING_US ? no(detail, sinceUs) : doubtful(detail, sinceUs)
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ')
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown
}
