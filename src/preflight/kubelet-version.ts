// SPDX-License-Identifier: Apache-2.0
/** Kubelet's version, as `kubelet --version` prints it. Pure. */
import { LAST_IN_TABLES, NEWEST_MINOR, OLDEST_MINOR } from '../kubelet/fields.ts'

export interface KubeletVersion {
  readonly major: number
  readonly minor: number
  readonly patch: number
}

/** Accepts `Kubernetes v1.20.2`, `v1.27.3+k3s1`, `1.30`. undefined: not a version. */
export function parseVersion(text: string): KubeletVersion | undefined {
  const [, major, minor, patch = '0'] = /(?:^|\sv?|^v)(\d{1,3})\.(\d{1,3})(?:\.(\d{1,4}))?(?:[-+.\s]|$)/.exec(text.trim()) ?? []
  if (major === undefined || minor === undefined) return undefined
  return { major: Number(major), minor: Number(minor), patch: Number(patch) }
}

export function formatVersion({ major, minor, patch }: KubeletVersion): string {
  return `${major}.${minor}.${patch}`
}

/** Whether the rules and tables of preflight are those of this version, as it was released. */
export function isCovered({ major, minor }: KubeletVersion): boolean {
  return major === 1 && minor >= OLDEST_MINOR && minor <= NEWEST_MINOR
}

/** Whether the version may know more than the tables do, which is so of a pre-release too. */
export function isNewer({ major, minor }: KubeletVersion): boolean {
  return major > 1 || (major === 1 && minor > NEWEST_MINOR)
}

/** Whether the version is of a minor of which only a pre-release is in the tables. */
export function isPreRelease({ major, minor }: KubeletVersion): boolean {
  return major === 1 && minor === LAST_IN_TABLES.minor && minor > NEWEST_MINOR
}

export const COVERED = `kubelet 1.${OLDEST_MINOR} to 1.${NEWEST_MINOR}`

/** The versions in the tables of gates and fields; the rules cover what is released. */
export const IN_TABLES = `kubelet 1.${OLDEST_MINOR} to ${LAST_IN_TABLES.version}`

/** By which rules a kubelet that the tables do not cover is judged. */
export function describeJudgedBy(version: KubeletVersion): string {
  if (isPreRelease(version)) return `1.${LAST_IN_TABLES.minor} is not released: judged by ${LAST_IN_TABLES.version}`
  const covered = `the rules cover ${COVERED}, not ${formatVersion(version)}`
  return isNewer(version) ? `${covered}: those of ${LAST_IN_TABLES.version} only warn` : covered
}
