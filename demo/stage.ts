// SPDX-License-Identifier: Apache-2.0
/**
 * The world of the demo together with its timeline, on which the agent, kubelet and the API server
 * report, and a way to wait for a condition.
 */
import { availableParallelism, loadavg } from 'node:os'
import { setTimeout as after } from 'node:timers/promises'
import { readConfig } from '../src/report/node-config.ts'
import { Administrator } from './administrator.ts'
import { section } from './api-server/objects.ts'
import type { StoreEvent } from './api-server/store.ts'
import { nameSource, shorten, tellLog, tellStatus } from './narrate.ts'
import { type Pace, stretch } from './pace.ts'
import type { Speaker, Timeline } from './timeline.ts'
import { NODE, startWorld, TRIAL_SECONDS, type World } from './world.ts'

export interface Stage {
  readonly world: World
  readonly timeline: Timeline
  readonly admin: Administrator
  /** The reasons of the Node's Warning events. */
  readonly warnings: readonly string[]
  /** Every last-known-good that the Node's status has shown. */
  readonly promoted: ReadonlySet<string>
  /**
   * Waits for the condition. Throws on a timeout, if the agent has ended, or if the demo is
   * stopped.
   */
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>
  /** A line of the timeline, shortened. */
  say(speaker: Speaker, text: string, isTrouble?: boolean): void
}

const CHECK_EVERY_MS = 25

interface StageOptions {
  readonly program: string
  readonly timeline: Timeline
  readonly stop: AbortSignal
  readonly pace: Pace
}

export async function openStage({ program, timeline, stop, pace }: StageOptions): Promise<Stage> {
  const warnings: string[] = []
  const promoted = new Set<string>()
  let directory = ''
  const say = (speaker: Speaker, text: string, isTrouble = false) => timeline.say(speaker, shorten(text, directory), isTrouble)
  let shown = ''
  let lastStart = ''

  const onObject = ({ plural, object }: StoreEvent): void => {
    if (plural === 'events' && object.type === 'Warning') {
      warnings.push(String(object.reason))
      const { kind, name } = section(object, 'involvedObject')
      const whose = kind === 'Node' && name !== NODE ? `${name}: ` : ''
      say('event', `${whose}${object.reason}: ${object.message}`, true)
    }
    const { config } = section(object, 'status')
    if (plural !== 'nodes' || section(object, 'metadata').name !== NODE || config === undefined || JSON.stringify(config) === shown) return
    shown = JSON.stringify(config)
    const status = readConfig(config)
    if (status !== 'absent') promoted.add(nameSource(status.lastKnownGood))
    for (const line of tellStatus(status)) say('status', line, line.startsWith('error'))
  }

  const world = await startWorld({
    program,
    pace,
    onObject,
    onStart: (path) => {
      directory = path
      timeline.write(introduce(path))
      timeline.head('The node as it was provisioned')
    },
    onAgentLine: (line) => {
      const told = tellLog(line)
      if (told !== undefined) say('agent', told.text, told.isTrouble)
    },
    onKubeletLine: (line) => {
      // Repeated starts with the same config are a crash loop; its crashes are shown already.
      if (line !== lastStart) say('kubelet', line.slice(2), line.startsWith('F '))
      if (line.startsWith('I Starting ')) lastStart = line
    },
  })
  return {
    ...{ world, timeline, warnings, promoted, say },
    admin: new Administrator(world.api, NODE, (text) => say('you', text)),
    async until(what, holds) {
      let limitMs = pace.limitMs
      for (const beganMs = performance.now(); !(await holds()); await after(CHECK_EVERY_MS)) {
        stop.throwIfAborted()
        const ended = world.nodes.find(({ agent }) => agent.end !== undefined)
        if (ended !== undefined) throw new Error(`the agent ended (${ended.agent.end}) while the demo waited until ${what}`)
        limitMs = Math.max(limitMs, stretch(pace.limitMs, loadavg()[0] ?? 0, availableParallelism()))
        if (performance.now() - beganMs > limitMs)
          throw new Error(`the demo waited ${Math.round(limitMs / 1000)} s in vain until ${what}; npm start -- --patient waits longer`)
      }
    },
  }
}

function introduce(directory: string): string {
  return `The agent is the real one. The API server, systemd and kubelet are simulated. All run as your user, in ${directory}.
Paths are relative to that directory. A version of a ConfigMap is shown as name@resourceVersion, and UIDs are shortened.
A trial takes ${TRIAL_SECONDS} s here instead of 10 minutes.`
}
