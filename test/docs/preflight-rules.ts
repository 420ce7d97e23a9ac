// SPDX-License-Identifier: Apache-2.0
/** The rules of preflight, read from its sources: no running program can list them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './pages.ts'

/** A text that no part of preflight gets to see is refused where it is read. */
const FOLDERS = ['src/preflight', 'src/command']
const WHOLE = /'((?:fields|node|guard|change|policy|kubelet|source|drop-ins|meaning|otherwise|rollout)\/[a-z-]+)'/g
/** The rules of fields are written without their prefix. */
const SHORT = /rule: '([a-z-]+)'/g

/** Without `policy/deny[N]`, which has a number. */
export function listPreflightRules(): readonly string[] {
  const sources = FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(ROOT, folder, name)),
  ).filter((name) => name.endsWith('.ts'))
  const text = sources.map((name) => readFileSync(name, 'utf8')).join('\n')
  const whole = [...text.matchAll(WHOLE)].map(([, rule = '']) => rule)
  const short = [...text.matchAll(SHORT)].map(([, rule]) => `fields/${rule}`)
  if (whole.length <= 10 || short.length <= 10) throw new Error('the sources of preflight name their rules in another way')
  return [...new Set([...whole, ...short])].sort()
}
