// SPDX-License-Identifier: Apache-2.0
/**
 * Plays the demo as `npm start` does, and keeps what it prints, and what Prometheus answered about
 * its agents.
 */
import { setTimeout as after } from 'node:timers/promises'
import { BRISK } from '../../demo/pace.ts'
import { openStage } from '../../demo/stage.ts'
import { playStory } from '../../demo/story.ts'
import { Timeline } from '../../demo/timeline.ts'
import type { World } from '../../demo/world.ts'
import type { Cast, Output } from './cast.ts'
import { type Answers, forPrometheus } from './metrics-file.ts'
import { type Prometheus, startPrometheus } from './prometheus.ts'

interface Recording {
  readonly cast: Cast
  readonly answers: Answers
}

const COMMAND = 'npm start'
const [COLUMNS, ROWS] = [120, 32]
/** New agents appear while the demo plays. */
const LOOK_EVERY_MS = 100
/** For the last trials of the demo, which take one second each. */
const AFTERWARDS_MS = 8000

export async function recordDemo(program: string, expressions: readonly string[]): Promise<Recording> {
  const prometheus = await startPrometheus()
  try {
    return await play(program, expressions, prometheus)
  } finally {
    await prometheus.close()
  }
}

async function play(program: string, expressions: readonly string[], prometheus: Prometheus): Promise<Recording> {
  const output: Output[] = [{ seconds: 0, text: `$ ${COMMAND}\n` }]
  const [startedAtMs, wallMs] = [performance.now(), Date.now()]
  const timeline = new Timeline({
    write: (text) => output.push({ seconds: (performance.now() - startedAtMs) / 1000, text }),
    colours: true,
    nowMs: () => performance.now(),
  })
  const stage = await openStage({ program, timeline, stop: new AbortController().signal, pace: BRISK })
  const stop = new AbortController()
  const scraping = scrapeAgents(stage.world, prometheus, stop.signal)
  try {
    await playStory(stage)
    const cast = { title: COMMAND, columns: COLUMNS, rows: ROWS, output: [...output] }
    await after(AFTERWARDS_MS)
    const count = Math.floor((Date.now() - wallMs) / 1000)
    const answers = await Promise.all(
      expressions.map(async (one) => [one, await prometheus.query(forPrometheus(one), wallMs, count)] as const),
    )
    return { cast, answers: Object.fromEntries(answers) }
  } finally {
    stop.abort()
    await scraping
    await stage.world.close()
  }
}

async function scrapeAgents({ nodes }: World, prometheus: Prometheus, stop: AbortSignal): Promise<void> {
  for (let known = 0; !stop.aborted; await after(LOOK_EVERY_MS)) {
    const targets = nodes.flatMap(({ name, agent: { metricsAddress: address } }) =>
      address === undefined ? [] : [{ instance: name, address }],
    )
    if (targets.length > known) prometheus.scrape(targets)
    known = targets.length
  }
}
