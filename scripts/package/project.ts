// SPDX-License-Identifier: Apache-2.0
/** Facts about the project for every package, from package.json and the commit. */
import { readFile } from 'node:fs/promises'
import { run } from './tools.ts'

export interface Project {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly licence: string
  readonly maintainer: string
  /** Seconds since 1970, of the commit: the only time in the packages. */
  readonly epoch: number
  /** The working tree differs from the commit, so the build is not reproducible. */
  readonly dirty: boolean
}

export async function readProject(): Promise<Project> {
  const manifest = JSON.parse(await readFile('package.json', 'utf8')) as Record<string, unknown>
  const field = (name: string): string => {
    const value = manifest[name]
    if (typeof value !== 'string' || value === '') throw new Error(`package.json has no ${name}`)
    return value
  }
  const given = process.env.SOURCE_DATE_EPOCH
  const epoch = Number(given ?? (await run('git', ['log', '-1', '--format=%ct'])))
  if (!Number.isSafeInteger(epoch) || epoch <= 0) throw new Error(`SOURCE_DATE_EPOCH is not a time in seconds: ${given}`)
  const dirty = given === undefined && (await run('git', ['status', '--porcelain'])) !== ''
  return {
    name: field('name'),
    version: field('version'),
    description: field('description'),
    licence: field('license'),
    maintainer: field('author'),
    epoch,
    dirty,
  }
}

/** As in `Sat, 21 Nov 2026 17:20:00 +0000`: debian/changelog. */
export function debianDate(epoch: number): string {
  return new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')
}

/** As in `Sat Nov 21 2026`: the changelog of a spec. */
export function rpmDate(epoch: number): string {
  const [weekday = '', day = '', month = '', year = ''] = new Date(epoch * 1000).toUTCString().replace(',', '').split(' ')
  return `${weekday} ${month} ${day} ${year}`
}

export function isoDay(epoch: number): string {
  return new Date(epoch * 1000).toISOString().slice(0, 10)
}
