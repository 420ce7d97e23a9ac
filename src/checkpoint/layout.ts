// SPDX-License-Identifier: Apache-2.0
/**
 * The layout of the dynamic config directory. Pure. Rules for its own path: systemd.exec(5),
 * EnvironmentFile=.
 */
import { isAbsolute, join, normalize, relative } from 'node:path'
import { entryOf, type RecordName } from '../decision/record-table.ts'
import { checkOverlay, type NameCheck, type NameRefusal, quoteName } from '../decision/safe-names.ts'
import type { CheckpointFile } from '../subject/config-source.ts'

const SAFE_DIRECTORY = /^[-._a-zA-Z0-9/@:+,]+$/

/**
 * Checks the dynamic config directory: systemd splits its path, from an environment file, into
 * words.
 */
export function checkDirectory(path: string): NameCheck {
  const refuse = (reason: NameRefusal, why: string): NameCheck => ({ ok: false, reason, detail: `directory ${quoteName(path)} ${why}` })
  if (path === '') return refuse('empty', 'is empty')
  if (!isAbsolute(path)) return refuse('not-absolute', 'is not an absolute path')
  if (!SAFE_DIRECTORY.test(path))
    return refuse('unsafe-character', 'may only contain letters, digits and /-._@:+, because systemd splits and unquotes it')
  if (path === '/' || path !== normalize(path) || path.endsWith('/'))
    return refuse('reserved', 'must not contain //, /./ or /../, and must not end with /')
  if (path.length > 1000) return refuse('too-long', `has ${path.length} characters, more than 1000`)
  return { ok: true }
}

/** Paths in the directory. The names that are passed in must have been checked. */
export interface Layout {
  readonly directory: string
  readonly meta: string
  /** The path of a record in `meta`. */
  record(name: RecordName): string
  /** Which of the records of sources say local. */
  readonly localMarker: string
  readonly verdicts: string
  /** Contents that differ only in bytes. */
  readonly sameContents: string
  /** The cluster and node that this state belongs to. */
  readonly binding: string
  readonly checkpoints: string
  /** The directory of a checkpoint, or of its rendering with an overlay. */
  checkpoint(uid: string, resourceVersion: string, overlay?: string): string
  /** The file that kubelet's `--config` names. */
  file(file: CheckpointFile): string
  /** Checkpoints with this node's overlay, each in a directory below that of its version. */
  readonly rendered: string
  readonly requests: string
  readonly lock: string
}

/** Of the directories that were asked for. There is one, and each look asks several times. */
const LAYOUTS = new Map<string, Layout>()

export function layoutOf(directory: string): Layout {
  const layout = LAYOUTS.get(directory) ?? makeLayout(directory)
  LAYOUTS.set(directory, layout)
  return layout
}

function makeLayout(directory: string): Layout {
  const meta = join(directory, 'meta')
  const checkpoints = join(directory, 'checkpoints')
  const rendered = join(directory, 'rendered')
  const records = new Map<RecordName, string>()
  const record = (name: RecordName) => {
    const path = records.get(name) ?? `${meta}/${entryOf(name).file}`
    records.set(name, path)
    return path
  }
  const checkpoint: Layout['checkpoint'] = (uid, resourceVersion, overlay) =>
    overlay === undefined ? `${checkpoints}/${uid}/${resourceVersion}` : `${rendered}/${uid}/${resourceVersion}/${overlay}`
  return {
    directory,
    meta,
    record,
    localMarker: join(meta, 'local'),
    verdicts: join(meta, 'verdicts'),
    sameContents: join(meta, 'same'),
    binding: join(meta, 'cluster'),
    checkpoints,
    checkpoint,
    file: ({ uid, resourceVersion, overlay, kubeletConfigKey }) => `${checkpoint(uid, resourceVersion, overlay)}/${kubeletConfigKey}`,
    rendered,
    requests: join(directory, 'requests'),
    lock: join(directory, 'lock'),
  }
}

/**
 * The inverse of `file`, for any path: which file of which checkpoint or rendering it is.
 * undefined: none.
 */
export function findFile({ checkpoints, rendered }: Layout, path: string): CheckpointFile | undefined {
  const [uid, resourceVersion, ...inside] = relative(checkpoints, path).split('/')
  if (uid && uid !== '..') return toFile(uid, resourceVersion, undefined, inside)
  const [renderedUid, renderedVersion, overlay, ...key] = relative(rendered, path).split('/')
  if (!renderedUid || renderedUid === '..' || overlay === undefined || !checkOverlay(overlay).ok) return undefined
  return toFile(renderedUid, renderedVersion, overlay, key)
}

function toFile(uid: string, resourceVersion = '', overlay: string | undefined, [key, ...deeper]: string[]): CheckpointFile | undefined {
  if (resourceVersion === '' || !key || deeper.length > 0) return undefined
  return { uid, resourceVersion, kubeletConfigKey: key, ...(overlay !== undefined && { overlay }) }
}
