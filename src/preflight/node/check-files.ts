// SPDX-License-Identifier: Apache-2.0
/**
 * Checks the files and directories that the candidate names. Pure. Files of the ConfigMap exist.
 * Rules: `UnsecuredDependencies` and `InitializeTLS`, cmd/kubelet/app/server.go: kubelet exits
 * without its client CA or its serving certificate. It waits for static pods, reads resolv.conf for
 * each pod, and creates the directories for plugins and logs itself; it exits where it cannot
 * create that for logs.
 */
import { posix } from 'node:path'
import { NEWEST_MINOR, OLDEST_MINOR } from '../../kubelet/fields.ts'
import type { RowName } from '../change/field-rows.ts'
import { findGateState } from '../fields/check-gates.ts'
import type { NodeProblem, NodeView } from './node-view.ts'
import type { PathState, Surroundings } from './surroundings.ts'

interface Named {
  readonly at: RowName
  /** A device or a pipe may do for a `file`, but not for a `regular-file`. */
  readonly wants: 'file' | 'regular-file' | 'directory' | 'either'
  readonly fatal: boolean
  readonly effect: string
  /** Refuses a change that brings the fault. A config that runs with the fault goes on. */
  readonly guard?: 'guard/resolv-conf'
}

export function checkFiles(view: NodeView, { paths, texts }: Surroundings): NodeProblem[] {
  return [...namedFiles(view).flatMap((named) => checkFile(view, named, paths)), ...checkNameservers(view, texts)]
}

/** Paths on the node to look for; without the files that the ConfigMap brings. */
export function filesToFind(view: NodeView): string[] {
  return namedFiles(view).flatMap(({ at }) => {
    const path = view.resolve(at)
    return path === undefined || isInConfigMap(view, path) ? [] : [path]
  })
}

function namedFiles(view: NodeView): readonly Named[] {
  const certificate = { wants: 'file', ...weighCertificate(view) } as const
  return [
    { at: 'authentication.x509.clientCAFile', wants: 'file', fatal: true, effect: 'kubelet does not start' },
    { at: 'tlsCertFile', ...certificate },
    { at: 'tlsPrivateKeyFile', ...certificate },
    { at: 'staticPodPath', wants: 'either', fatal: false, effect: 'kubelet finds no static pods and stops those that run' },
    {
      at: 'resolvConf',
      wants: 'regular-file',
      fatal: false,
      effect: 'no new pod that needs it could start or resolve names',
      guard: 'guard/resolv-conf',
    },
    { at: 'volumePluginDir', wants: 'directory', fatal: false, effect: 'volume plugins are not found' },
    // `setupDataDirs`, pkg/kubelet/kubelet.go.
    { at: 'podLogsDir', wants: 'directory', fatal: true, effect: 'kubelet does not start' },
  ]
}

function weighCertificate(view: NodeView): Pick<Named, 'fatal' | 'effect'> {
  const readers = possibleMinors(view).map((minor) => readsCertificate(view, minor))
  if (readers.every(Boolean)) return { fatal: true, effect: 'kubelet does not start' }
  if (readers.some(Boolean)) return { fatal: false, effect: 'some versions of kubelet do not start' }
  if (!view.is('enableServer')) return { fatal: false, effect: 'no effect while enableServer is false' }
  if (view.is('serverTLSBootstrap')) return { fatal: false, effect: 'no effect while serverTLSBootstrap is true' }
  return { fatal: false, effect: 'no effect, since only one of tlsCertFile and tlsPrivateKeyFile is set' }
}

/** Without a version, one before and one after the changes of the rules. */
function possibleMinors({ minor }: NodeView): readonly number[] {
  return minor === undefined ? [OLDEST_MINOR, NEWEST_MINOR] : [minor]
}

/** The first minor of 1.x whose server opens no file, since kubelet has loaded the pair before. */
export const LOADED_BEFORE = 36

/**
 * Whether kubelet exits without the files. Up to 1.35 its server opens them. From 1.31 on,
 * `NewMainKubelet` loads the pair, also where there is no server, unless the API server signs the
 * certificate.
 */
function readsCertificate(view: NodeView, minor: number): boolean {
  const gates = { featureGates: view.map('featureGates') }
  const loads = minor >= LOADED_BEFORE || findGateState('ReloadKubeletServerCertificateFile', gates, minor) === true
  const isPair = view.text('tlsCertFile') !== undefined && view.text('tlsPrivateKeyFile') !== undefined
  if (loads && isPair && !view.is('serverTLSBootstrap')) return true
  return minor < LOADED_BEFORE && view.is('enableServer')
}

function checkFile(view: NodeView, { at, wants, fatal, effect, guard }: Named, paths: Surroundings['paths']): NodeProblem[] {
  const path = view.resolve(at)
  if (path === undefined) return []
  const state: PathState | undefined = isInConfigMap(view, path) ? 'file' : paths.get(path)
  const wrong = describeFault(state, wants)
  if (wrong === undefined) return []
  const isGuarded = guard !== undefined && view.running(at) !== view.value(at)
  // Kubelet creates directories itself, and a missing default was not configured by anyone, unless
  // the candidate returns to it.
  const isUnasked = view.isDefault(at) && !(isGuarded && view.knowsRunning)
  if (wrong === 'does not exist' && (wants === 'directory' || isUnasked)) return []
  const isAbsolute = view.text(at)?.startsWith('/') === true
  const problem = `${view.called(at)}: ${path} ${wrong}; ${effect}`
  const advice = isAbsolute ? 'create it, or name another one' : 'add it to the ConfigMap, or use its absolute path'
  return [{ rule: guard ?? 'node/missing-file', severity: fatal || isGuarded ? 'refuse' : 'warn', at, problem, advice }]
}

function describeFault(state: PathState | undefined, wants: Named['wants']): string | undefined {
  if (state === 'missing') return 'does not exist'
  if (state === 'directory' && (wants === 'file' || wants === 'regular-file')) return 'is a directory'
  if (state === 'other' && wants === 'regular-file') return 'is not a regular file'
  return state === 'file' && wants === 'directory' ? 'is not a directory' : undefined
}

function isInConfigMap(view: NodeView, path: string): boolean {
  const { folder, files } = view.options
  return posix.dirname(path) === posix.normalize(folder).replace(/(.)\/$/, '$1') && files.includes(posix.basename(path))
}

/**
 * The resolv.conf of the running kubelet, and the one that the candidate moves it to. Empty: it
 * stays where it is, or is not known.
 */
export function resolversToCompare(view: NodeView): [] | [before: string, after: string] {
  const [before, after] = [view.running('resolvConf'), view.resolve('resolvConf')]
  if (typeof before !== 'string' || after === undefined || before === after || isInConfigMap(view, after)) return []
  return before.startsWith('/') ? [before, after] : []
}

/** `MaxDNSNameservers`, pkg/apis/core/validation: kubelet leaves out those after it. */
const MOST_NAMED = 3

/**
 * Pods with `dnsPolicy: Default`, CoreDNS among them, get the nameservers of this file. A loopback
 * address is that of systemd-resolved's stub only in the network namespace of the node. kubelet
 * itself uses /etc/resolv.conf and stays healthy.
 */
function checkNameservers(view: NodeView, texts: Surroundings['texts']): NodeProblem[] {
  const [before, after] = resolversToCompare(view).map((path) => texts.get(path))
  if (typeof before !== 'string' || typeof after !== 'string') return []
  const stubs = nameserversIn(after)
  if (stubs.length === 0 || !stubs.every(isLoopback) || nameserversIn(before).every(isLoopback)) return []
  const [now, at] = [String(view.running('resolvConf')), 'resolvConf'] as const
  const problem = `${view.called(at)}: ${view.resolve(at)} has only the nameserver ${stubs.slice(0, MOST_NAMED).join(', ')}, which no pod reaches, and kubelet now uses ${now}; cluster DNS would fail`
  return [{ rule: 'guard/resolv-conf', severity: 'refuse', at, problem, advice: `set resolvConf: ${now}` }]
}

/** As kubelet reads them: `parseResolvConf`, pkg/kubelet/network/dns/dns.go. */
function nameserversIn(text: string): string[] {
  return [...text.matchAll(/^[ \t]*nameserver[ \t]+(\S+)/gm)].flatMap(([, address]) => address ?? [])
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1'
}

/**
 * The directory or file of manifests that the config leaves. undefined: none, or it is unknown. The
 * base of a relative path of the running config is unknown.
 *
 * Kubelet stops the static pods of a directory that its config no longer names. It also replaces
 * those whose manifest it finds in another directory: the path is part of a static pod's hash
 * (`applyDefaults`, pkg/kubelet/config/common.go), so that a copy is another pod. On a control
 * plane node they are etcd and the API server.
 */
export function leftManifests(view: NodeView): string | undefined {
  const before = view.running('staticPodPath')
  if (typeof before !== 'string' || !before.startsWith('/') || view.isUnknown('staticPodPath')) return undefined
  const after = view.resolve('staticPodPath')
  const isUnclear = after === undefined && view.text('staticPodPath') !== undefined
  return isUnclear || normal(before) === (after && normal(after)) ? undefined : normal(before)
}

export function checkStaticPods(view: NodeView, { manifests }: Surroundings): NodeProblem[] {
  const left = leftManifests(view)
  const count = left === undefined ? undefined : manifests.get(left)
  if (left === undefined || count === undefined || count === 0) return []
  const after = view.text('staticPodPath')
  const what = after === undefined ? 'staticPodPath is removed' : `${view.called('staticPodPath')} moves to ${after}`
  const holds = count === 1 ? `${left} holds a manifest` : `${left} holds ${count} manifests`
  const problem = `${what}, but ${holds}: kubelet would ${after === undefined ? 'stop' : 'stop or replace'} these static pods`
  const advice = `keep staticPodPath: ${left}, or move the manifests away first`
  return [{ rule: 'guard/static-pods', severity: 'refuse', at: 'staticPodPath', problem, advice }]
}

/** Kubelet cleans the path before it hashes it. */
function normal(path: string): string {
  return posix.normalize(path).replace(/(.)\/$/, '$1')
}
