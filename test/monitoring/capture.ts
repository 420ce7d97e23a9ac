// SPDX-License-Identifier: Apache-2.0
/**
 * The metrics that the real agent serves in states that stay: the bundled program, with the demo's
 * API server and simulated kubelet.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Administrator, KEY } from '../../demo/administrator.ts'
import { BROKEN_CONFIG, crashingConfig, podsConfig } from '../../demo/configs.ts'
import { PATIENT } from '../../demo/pace.ts'
import { NODE, startWorld, type World } from '../../demo/world.ts'
import { ROLLOUT_ANNOTATION } from '../../src/decision/channels.ts'
import type { ConditionReason } from '../../src/report/reasons.ts'
import { ROLLOUT_PLAN_ANNOTATION } from '../../src/rollout/plan.ts'
import { until } from '../until.ts'
import { parseExposition, type Sample } from './exposition.ts'

interface Capture {
  /** Nothing is assigned. */
  readonly local: readonly Sample[]
  /** A config with a rollout has passed its trial. */
  readonly promoted: readonly Sample[]
  /** An edit of it does not parse. */
  readonly refused: readonly Sample[]
  /** An edit made kubelet exit, which halts its rollout. */
  readonly rolledBack: readonly Sample[]
  /** The samples that the agent wrote to its --metrics-textfile in that last state. */
  readonly file: readonly Sample[]
}

const CONFIG = 'node-config'
const RECORD = 'node-config-rollout'
const ROOT = join(import.meta.dirname, '../..')

export async function captureMetrics(): Promise<Capture> {
  const built = mkdtempSync(join(tmpdir(), 'metrics-test-'))
  try {
    const program = join(built, 'kubelet-cfg-agent.mjs')
    const build = spawnSync(process.execPath, ['scripts/build.mjs', 'src/main.ts', built], { cwd: ROOT, env: {}, encoding: 'utf8' })
    if (build.status !== 0) throw new Error(`the agent cannot be built: ${build.stderr}`)
    const world = await startWorld({
      program,
      pace: { ...PATIENT, restartSecMs: 2000 },
      onStart: () => {},
      onAgentLine: () => {},
      onKubeletLine: () => {},
      onObject: () => {},
    })
    try {
      return await play(world)
    } finally {
      await world.close()
    }
  } finally {
    rmSync(built, { recursive: true, force: true })
  }
}

async function play(world: World): Promise<Capture> {
  const admin = new Administrator(world.api, NODE, () => {})
  const local = await scrapeWhen(world, 'Local')
  await admin.createEmptyConfigMap(RECORD)
  const data = { [KEY]: podsConfig(world.healthzPort, 64) }
  const annotations = { [ROLLOUT_ANNOTATION]: RECORD, [ROLLOUT_PLAN_ANNOTATION]: 'waves: [100%], witnesses: 1, spread: 0s' }
  world.api.objects.put({ kind: 'ConfigMap', metadata: { name: CONFIG, namespace: 'kube-system', annotations }, data })
  await admin.assign(CONFIG)
  const promoted = await scrapeWhen(world, 'Promoted', hasEvery('kubelet_cfg_agent_rollout_stage', 'kubelet_cfg_agent_rollout_turn'))
  await admin.editConfigMap(CONFIG, BROKEN_CONFIG)
  const hasTurn = (turn: string) => (samples: readonly Sample[]) => samples.some(({ labels }) => labels.turn === turn)
  const refused = await scrapeWhen(world, 'Refused', hasTurn('wait'))
  await admin.editConfigMap(CONFIG, crashingConfig(world.healthzPort))
  const rolledBack = await scrapeWhen(world, 'RolledBack', hasTurn('halted'))
  const path = join(dirname(world.settingsFile), 'metrics.prom')
  const readFile = () => (existsSync(path) ? readFileSync(path, 'utf8') : '')
  await until(() => /reason="RolledBack"/.test(readFile()) && /turn="halted"/.test(readFile()), 'the file says so too', 50)
  return { local, promoted, refused, rolledBack, file: parseExposition(readFile()) }
}

function hasEvery(...names: readonly string[]): (samples: readonly Sample[]) => boolean {
  return (samples) => names.every((name) => samples.some((sample) => sample.name === name))
}

async function scrapeWhen(
  world: World,
  reason: ConditionReason,
  holds: (samples: readonly Sample[]) => boolean = () => true,
): Promise<readonly Sample[]> {
  let samples: readonly Sample[] = []
  const look = async () => {
    if (world.agent.end !== undefined) throw new Error(`the agent ended (${world.agent.end}): ${world.agent.tail(5).join('\n')}`)
    samples = await scrape(world)
    return samples.some(({ labels }) => labels.type === 'KubeletConfigReady' && labels.reason === reason) && holds(samples)
  }
  await until(look, `the metrics say ${reason}`, 50)
  return samples
}

async function scrape({ agent }: World): Promise<readonly Sample[]> {
  const { metricsAddress } = agent
  return metricsAddress === undefined ? [] : parseExposition(await (await fetch(`http://${metricsAddress}/metrics`)).text())
}
