// SPDX-License-Identifier: Apache-2.0
/** Which pictures there are, and what each is drawn from. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { actsOf, readCast } from './cast.ts'
import { drawDashboard } from './dashboard.ts'
import { readAnswers } from './metrics-file.ts'
import { drawRollout } from './rollout.ts'
import { drawTerminal } from './terminal.ts'

export const ROOT = join(import.meta.dirname, '../..')
export const CAST = 'scripts/pictures/recorded/demo.cast'
export const METRICS = 'scripts/pictures/recorded/metrics.jsonl'
export const DASHBOARD = 'deploy/monitoring/dashboard.json'

/** By path. */
export function drawAll(): Readonly<Record<string, string>> {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
  const cast = readCast(read(CAST))
  const acts = actsOf(cast)
  return {
    'docs/images/demo.svg': drawTerminal(cast),
    'docs/images/rollout.svg': drawRollout(acts),
    'docs/images/dashboard.svg': drawDashboard(read(DASHBOARD), readAnswers(read(METRICS)), acts),
  }
}
