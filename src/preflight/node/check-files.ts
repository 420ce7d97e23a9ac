/**
 * Files and folders that the candidate names. Pure. A file that came with the ConfigMap is there. Rules: `UnsecuredDependencies` and `InitializeTLS`,
 * cmd/kubelet/app/server.go: kubelet ends without its client CA, and without the certificate it serves with; static pods it waits for, resolv.conf it
 * reads pod by pod, and folders for plugins and logs it makes by itself.
 */
import { posix } from 'node:path'
import type { RowName } from '../change/field-rows.ts'
import type { NodeProblem, NodeView } from './node-view.ts'
import type { PathState, Surroundings } from './surroundings.ts'

interface Named {
  readonly at: RowName
  readonly wants: 'file' | 'directory' | 'either'
  readonly fatal: boolean
  readonly effect: string
}

export function checkFiles(view: NodeView, { paths }: Surroundings): NodeProblem[] {
  return [...namedFiles(view).flatMap((named) => checkFile(view, named, paths)), ...checkPair(view)]
}

/** Where to look for what the candidate names; not for what comes with it. */
export function filesToFind(view: NodeView): string[] {
  return namedFiles(view).flatMap(({ at }) => {
    const path = view.resolve(at)
    return path === undefined || comesAlong(view, path) ? [] : [path]
  })
}

function namedFiles(view: NodeView): readonly Named[] {
  const served = view.is('enableServer')
  const certificate = {
    wants: 'file',
    fatal: served,
    effect: served ? 'kubelet does not start' : 'nobody is served, so nobody notices',
  } as const
  return [
    { at: 'authentication.x509.clientCAFile', wants: 'file', fatal: true, effect: 'kubelet does not start' },
    { at: 'tlsCertFile', ...certificate },
    { at: 'tlsPrivateKeyFile', ...certificate },
    { at: 'staticPodPath', wants: 'either', fatal: false, effect: 'static pods are not found, and those that run are ended' },
    { at: 'resolvConf', wants: 'file', fatal: false, effect: 'pods that need it cannot be started' },
    { at: 'volumePluginDir', wants: 'directory', fatal: false, effect: 'volume plugins are not found' },
    { at: 'podLogsDir', wants: 'directory', fatal: false, effect: 'logs of pods cannot be written' },
  ]
}

function checkFile(view: NodeView, { at, wants, fatal, effect }: Named, paths: Surroundings['paths']): NodeProblem[] {
  const path = view.resolve(at)
  if (path === undefined) return []
  const state: PathState | undefined = comesAlong(view, path) ? 'file' : paths.get(path)
  const wrong = whatIsWrong(state, wants)
  if (wrong === undefined) return []
  // Folders for plugins and logs kubelet makes; and a default that is not there nobody has asked for.
  if (wrong === 'does not exist' && (wants === 'directory' || view.isDefault(at))) return []
  return [
    {
      rule: 'node/missing-file',
      severity: fatal ? 'refuse' : 'warn',
      at,
      problem: `${view.called(at)}: ${path} ${wrong}; ${effect}`,
      advice:
        view.text(at)?.startsWith('/') === true
          ? 'put it there, or name another one'
          : 'add it to the ConfigMap, or name it by its whole path',
    },
  ]
}

function whatIsWrong(state: PathState | undefined, wants: Named['wants']): string | undefined {
  if (state === 'missing') return 'does not exist'
  if (state === 'directory' && wants === 'file') return 'is a folder'
  return state === 'file' && wants === 'directory' ? 'is no folder' : undefined
}

function comesAlong(view: NodeView, path: string): boolean {
  const { folder, files } = view.options
  return posix.dirname(path) === posix.normalize(folder).replace(/(.)\/$/, '$1') && files.includes(posix.basename(path))
}

/** One of the two alone makes kubelet load the other one from nowhere. */
function checkPair(view: NodeView): NodeProblem[] {
  if (!view.is('enableServer')) return []
  const [certificate, key] = [view.text('tlsCertFile'), view.text('tlsPrivateKeyFile')]
  if ((certificate === undefined) === (key === undefined)) return []
  const [at, other] =
    certificate === undefined ? (['tlsPrivateKeyFile', 'tlsCertFile'] as const) : (['tlsCertFile', 'tlsPrivateKeyFile'] as const)
  const problem = `${view.called(at)} is set and ${other} is not: kubelet does not start to serve`
  return [{ rule: 'node/missing-file', severity: 'refuse', at, problem, advice: `set ${other} as well, or neither` }]
}
