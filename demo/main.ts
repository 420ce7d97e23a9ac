// SPDX-License-Identifier: Apache-2.0
/**
 * The demo, the first command in the README: the real agent with an embedded API server and a
 * simulated kubelet under a simulated systemd. It needs neither root nor a cluster nor a network.
 * It plays several acts and exits with 0, or with 1 and the reason. With --keep it plays the first
 * act and keeps running.
 */
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { prepareToPlay } from './keep.ts'
import { BRISK, PATIENT } from './pace.ts'
import { openStage, type Stage } from './stage.ts'
import { assignConfig, GOOD, meetNode, playStory } from './story.ts'
import { Timeline } from './timeline.ts'

const USAGE = `npm start               plays all acts, in less than a minute
npm start -- --keep     plays the first act and keeps running, with commands to try
npm start -- --patient  waits longer for everything, on a machine that is slow or busy
`
/** How many lines of each agent's log are kept of a failure. */
const TAIL = 200
/** As in a shell: 128 + SIGINT. */
const INTERRUPTED = 130

const { values } = parseArgs({
  options: {
    keep: { type: 'boolean', default: false },
    patient: { type: 'boolean', default: false },
    agent: { type: 'string', default: 'dist/kubelet-cfg-agent.mjs' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
process.exit(await main())

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(USAGE)
    return 0
  }
  const program = resolve(values.agent)
  if (process.platform !== 'linux') return fail('the demo needs Linux, because the agent uses systemd and /proc')
  if (!existsSync(program)) return fail(`${program} does not exist: run npm run build`)

  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      stop.abort(signal)
      // The second signal ends it immediately.
      process.once(signal, () => process.exit(INTERRUPTED))
    })
  }
  process.stdout.on('error', () => stop.abort('EPIPE'))
  return play(program, stop.signal)
}

async function play(program: string, stop: AbortSignal): Promise<number> {
  const colours = process.stdout.isTTY === true && process.env.NO_COLOR === undefined
  const timeline = new Timeline({ write: (text) => process.stdout.write(text), colours, nowMs: () => performance.now() })
  let stage: Stage
  try {
    stage = await openStage({ program, timeline, stop, pace: values.patient ? PATIENT : BRISK })
  } catch (error) {
    return fail(`cannot start its parts: ${error instanceof Error ? error.message : error}`)
  }
  try {
    await (values.keep ? keepWorld(stage, program, stop) : playStory(stage))
    return 0
  } catch (error) {
    if (stop.aborted) return INTERRUPTED
    return fail(`${error instanceof Error ? error.message : error}; the logs of its agents are in ${keepLogs(stage)}`)
  } finally {
    await stage.world.close()
    if (stop.aborted) timeline.write('\nStopped; its processes and its directory are removed.')
  }
}

async function keepWorld(stage: Stage, program: string, stop: AbortSignal): Promise<void> {
  await meetNode(stage)
  await assignConfig(stage)
  stage.timeline.write(prepareToPlay(stage.world, GOOD, program))
  const stopped = new Promise<void>((done) => (stop.aborted ? done() : stop.addEventListener('abort', () => done())))
  await Promise.race([stopped, stage.world.agent.exited])
  if (!stop.aborted) throw new Error(`the agent ended (${stage.world.agent.end})`)
}

/** Keeps the logs of the agents: their world is removed with the rest. */
function keepLogs({ world }: Stage): string {
  const path = join(mkdtempSync(join(tmpdir(), 'failed-kubelet-demo-')), 'agents.log')
  const logs = world.nodes.map(({ name, agent }) => `The end of the agent's log on ${name}:\n${agent.tail(TAIL).join('\n')}\n`)
  writeFileSync(path, logs.join('\n'))
  return path
}

function fail(why: string): number {
  process.stderr.write(`\nThe demo failed: ${why}\n`)
  return 1
}
