// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run pictures`: draws the pictures of docs/images/ from what is kept in recorded/.
 * `npm run pictures -- --record` plays the demo and keeps that first.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeCast } from './cast.ts'
import { listExpressions, readDashboard, writeAnswers } from './metrics-file.ts'
import { CAST, DASHBOARD, drawAll, METRICS, ROOT } from './pictures.ts'
import { recordDemo } from './record.ts'

if (process.argv.includes('--record')) await keepRecording()
for (const [path, svg] of Object.entries(drawAll())) writeFileSync(join(ROOT, path), svg)

async function keepRecording(): Promise<void> {
  const built = mkdtempSync(join(tmpdir(), 'pictures-'))
  try {
    const build = spawnSync(process.execPath, ['scripts/build.mjs', 'src/main.ts', built], { cwd: ROOT, encoding: 'utf8' })
    if (build.status !== 0) throw new Error(build.stderr)
    const { panels } = readDashboard(readFileSync(join(ROOT, DASHBOARD), 'utf8'))
    const { cast, answers } = await recordDemo(join(built, 'kubelet-cfg-agent.mjs'), listExpressions(panels))
    writeFileSync(join(ROOT, CAST), writeCast(cast))
    writeFileSync(join(ROOT, METRICS), writeAnswers(answers))
  } finally {
    rmSync(built, { recursive: true, force: true })
  }
}
