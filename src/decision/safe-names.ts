// SPDX-License-Identifier: Apache-2.0
/**
 * Which names may become file names in the dynamic config directory. Pure. Names come from the API
 * server, so from anyone who may write there: unsafe names are rejected, never repaired.
 *
 * Rule for keys: `validation.IsConfigMapKey` in k8s.io/apimachinery.
 */
import type { CheckpointFile, ConfigMapData, ConfigMapSource } from '../subject/config-source.ts'

export type NameCheck = { readonly ok: true } | { readonly ok: false; readonly reason: NameRefusal; readonly detail: string }
export type NameRefusal = 'empty' | 'too-long' | 'reserved' | 'unsafe-character' | 'not-absolute'

const OK: NameCheck = { ok: true }
const SAFE_NAME = /^[-._a-zA-Z0-9]+$/
const LONGEST_KEY = 253
/** Shorter than a key, to leave room for the suffix of a checkpoint that is set aside. */
const LONGEST_VERSION = 200

/** @param what the field, for the message: `uid`, `resourceVersion` */
export function checkVersion(what: string, name: string): NameCheck {
  return checkName(what, name, LONGEST_VERSION)
}

const OVERLAY = /^[0-9a-f]{16}$/

/** @param overlay undefined: the source has no overlay */
export function checkOverlay(overlay: string | undefined): NameCheck {
  if (overlay === undefined || OVERLAY.test(overlay)) return OK
  return { ok: false, reason: 'unsafe-character', detail: `overlay ${quoteName(overlay)} is not 16 hexadecimal digits` }
}

export function checkKey(name: string): NameCheck {
  return checkName('key', name, LONGEST_KEY)
}

export function checkFile(file: CheckpointFile): NameCheck {
  return firstRefusal([
    checkVersion('uid', file.uid),
    checkVersion('resourceVersion', file.resourceVersion),
    checkKey(file.kubeletConfigKey),
    checkOverlay(file.overlay),
  ])
}

/** Checks everything in a source that becomes part of a path or a line of a record. */
export function checkSource(source: ConfigMapSource): NameCheck {
  return firstRefusal([
    checkName('namespace', source.namespace, LONGEST_KEY),
    checkName('name', source.name, LONGEST_KEY),
    checkFile(source),
  ])
}

export function checkData(data: ConfigMapData): NameCheck {
  return firstRefusal(Object.keys(data).map(checkKey))
}

function checkName(what: string, name: string, longest: number): NameCheck {
  const refuse = (reason: NameRefusal, why: string): NameCheck => ({ ok: false, reason, detail: `${what} ${quoteName(name)} ${why}` })
  if (name === '') return refuse('empty', 'is empty')
  if (name.length > longest) return refuse('too-long', `has ${name.length} characters, more than ${longest}`)
  if (!SAFE_NAME.test(name)) return refuse('unsafe-character', 'may only contain letters, digits, -, _ and .')
  // `..` is also the prefix of unfinished files (files.ts).
  if (name === '.' || name.startsWith('..')) return refuse('reserved', 'must not be . or start with ..')
  return OK
}

function firstRefusal(checks: readonly NameCheck[]): NameCheck {
  return checks.find((check) => !check.ok) ?? OK
}

/** Shortens and escapes hostile names for a message. */
export function quoteName(name: string): string {
  return JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}...` : name)
}
