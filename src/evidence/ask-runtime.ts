// SPDX-License-Identifier: Apache-2.0
/**
 * The questions to the container runtime: whether it answers, and the static pods that it runs,
 * together with the files that they came from. Needs no API server. Pure but for its ports.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Askers } from '../ports/evidence.ts'
import type { Files } from '../ports/files.ts'
import type { ContainerRuntime, RuntimePods } from '../ports/probes.ts'
import { isObject } from '../values/is-object.ts'
import { nameOfPod } from './ask-cluster.ts'
import type { NotAsked } from './kind.ts'
import type { Manifest, StaticPod } from './static-pods.ts'

type ManifestFiles = Pick<Files, 'read' | 'list' | 'stat'>

/** Of more, one that is lost is a doubt. */
const MOST_LIVE = 1000
const MOST_MANIFESTS = 100
const MANIFEST_BYTES = 256 * 1024
const MOST_NAMES = 200
const MAY_COMPLETE = /restartPolicy["']?\s*:\s*["']?(Never|OnFailure)\b/

export function askRuntime(
  runtime: Pick<ContainerRuntime, 'probe' | 'listPods'>,
  files: ManifestFiles,
): Pick<Askers, 'runtime' | 'static-pods'> {
  return {
    async runtime({ runtimeSocket: socket }) {
      if (socket === undefined) return NO_SOCKET
      const answer = await runtime.probe(socket)
      if (answer.ok) return { kind: 'answered', endpoint: socket, detail: '' }
      // The agent itself cannot tell: that is not kubelet's trouble.
      return answer.why === 'down'
        ? { kind: 'silent', endpoint: socket, detail: answer.detail }
        : { kind: 'not-asked', detail: answer.detail }
    },
    async 'static-pods'({ runtimeSocket: socket, manifests }) {
      if (socket === undefined) return NO_SOCKET
      const answer = await runtime.listPods(socket)
      if (!answer.ok) {
        const detail = `the container runtime lists no pods: ${answer.detail}`
        return { kind: 'not-asked', detail, ...(answer.why === 'down' && { hasFailed: true }) }
      }
      const ready = answer.value.sandboxes.filter(({ state }) => state === 'ready').slice(0, MOST_LIVE)
      const live = ready.map(({ namespace, name }) => nameOfPod(namespace, name))
      return { kind: 'found', pods: findStaticPods(answer.value), manifests: readManifests(files, manifests), live }
    },
  }
}

const NO_SOCKET: NotAsked = { kind: 'not-asked', detail: 'no CRI socket of a container runtime is known' }

/** One for each config hash: a pod may have sandboxes of earlier attempts. */
export function findStaticPods({ sandboxes, containers }: RuntimePods): readonly StaticPod[] {
  const running = new Set(containers.filter(({ state }) => state === 'running').map(({ sandboxId }) => sandboxId))
  const pods = new Map<string, StaticPod>()
  const ended = new Set(containers.filter(({ state }) => state === 'exited').map(({ sandboxId }) => sandboxId))
  for (const { id, uid, name, namespace, state, createdAtMs, configSource, configHash } of sandboxes) {
    if (configSource !== 'file') continue
    const hash = configHash ?? uid
    const known = pods.get(hash)
    const isRunning = (state === 'ready' && running.has(id)) || known?.isRunning === true
    const isHeld = !isRunning && ((state === 'ready' && ended.has(id)) || known?.isHeld === true)
    const startedAtMs = Math.max(createdAtMs, known?.startedAtMs ?? 0)
    pods.set(hash, { hash, name: `${namespace}/${name}`, isRunning, isHeld, startedAtMs })
  }
  return [...pods.values()]
}

/** @param paths directories and files. Those that cannot be read are left out. */
function readManifests(files: ManifestFiles, paths: readonly string[]): readonly Manifest[] {
  const found = paths.flatMap((path) => listFiles(files, path)).slice(0, MOST_MANIFESTS)
  return found.flatMap((path) => readManifest(files, path) ?? [])
}

/** Kubelet ignores names that begin with a dot, and directories (pkg/kubelet/config/file.go). */
function listFiles(files: ManifestFiles, path: string): readonly string[] {
  try {
    if (files.stat(path, 'follow')?.kind === 'file') return [path]
    const names = files.list(path) ?? []
    return names.filter((name) => !name.startsWith('.')).map((name) => join(path, name))
  } catch {
    return []
  }
}

function readManifest(files: ManifestFiles, path: string): Manifest | undefined {
  try {
    // Kubelet follows links (`extractFromDir`, pkg/kubelet/config/file.go). One that was turned to
    // another file is as new as that.
    const facts = files.stat(path, 'follow')
    if (facts?.kind !== 'file' || facts.size > MANIFEST_BYTES) return undefined
    const modifiedAtMs = Math.max(facts.mtimeMs, files.stat(path)?.mtimeMs ?? 0)
    const bytes = files.read(path)
    if (bytes === undefined) return undefined
    const text = bytes.toString()
    // A pod with such a text may complete, and is not missed then.
    if (MAY_COMPLETE.test(text)) return { path, digest: hash(bytes), modifiedAtMs, names: [] }
    return { path, digest: hash(bytes), modifiedAtMs, podName: findPodName(text), names: findNames(text) }
  } catch {
    return undefined
  }
}

function hash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The values of all fields `name`, in YAML or JSON: the pod's own is one of them. */
export function findNames(text: string): readonly string[] {
  const names = [...text.matchAll(/(?:^|[\s{,-])["']?name["']?\s*:\s*["']?([a-z0-9][-a-z0-9.]{0,252})(?=["'\s,}]|$)/gm)]
  return [...new Set(names.slice(0, MOST_NAMES).flatMap(([, name]) => name ?? []))]
}

/** `metadata.name`, of JSON or of a block mapping without a parser of YAML. */
export function findPodName(text: string): string | undefined {
  if (text.trimStart().startsWith('{')) return podNameOfJson(text)
  const lines = text.split(/\r?\n/).filter((line) => !/^\s*(?:#|$)/.test(line))
  const sections = lines.flatMap((line, index) => (/^metadata:\s*(?:#.*)?$/.test(line) ? [index] : []))
  const [start, ...more] = sections
  if (start === undefined || more.length > 0) return undefined
  const indent = /^ */.exec(lines[start + 1] ?? '')?.[0] ?? ''
  const end = lines.findIndex((line, index) => index > start && !line.startsWith(' '))
  const fields = lines.slice(start + 1, end < 0 ? undefined : end).filter((line) => line.startsWith(`${indent}name:`))
  return fields.length === 1 ? findNames(fields[0] ?? '')[0] : undefined
}

function podNameOfJson(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const metadata = isObject(value) ? value.metadata : undefined
    return isObject(metadata) && typeof metadata.name === 'string' ? metadata.name : undefined
  } catch {
    return undefined
  }
}
