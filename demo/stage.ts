/**
 * The stage that the story is played on: the world with its timeline, where the agent, kubelet and the API server speak for themselves, and the one
 * way to wait, which is for something to be so.
 */
import { setTimeout as after } from 'node:timers/promises'
import { readConfig } from '../src/report/node-config.ts'
import { section } from './api-server/objects.ts'
import type { StoreEvent } from './api-server/store.ts'
import { nameSource, shorten, tellLog, tellStatus } from './narrate.ts'
import type { Pace } from './pace.ts'
import { Person } from './person.ts'
import type { Speaker, Timeline } from './timeline.ts'
import { NODE, startWorld, TRIAL_SECONDS, type World } from './world.ts'

export interface Stage {
  readonly world: World
  readonly timeline: Timeline
  readonly person: Person
  /** Of the Node's Warning events, their reasons. */
  readonly warnings: readonly string[]
  /** Every last-known-good that the Node has ever shown. */
  readonly promoted: ReadonlySet<string>
  /** Looks until it is so; throws when it is not in time, when the agent has ended, or when the demo is stopped. */
  until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void>
}

const LOOK_EVERY_MS = 25

export interface StageOptions {
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
      say('event', `${object.reason}: ${object.message}`, true)
    }
    const { config } = section(object, 'status')
    if (plural !== 'nodes' || config === undefined || JSON.stringify(config) === shown) return
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
      // One start after another with the same config is a crash loop, whose crashes say enough.
      if (line !== lastStart) say('kubelet', line.slice(2), line.startsWith('F '))
      if (line.startsWith('I Starting ')) lastStart = line
    },
  })
  return {
    ...{ world, timeline, warnings, promoted },
    person: new Person(world.api, NODE, (text) => say('you', text)),
    async until(what, isSo) {
      for (const deadlineMs = performance.now() + pace.limitMs; !(await isSo()); await after(LOOK_EVERY_MS)) {
        stop.throwIfAborted()
        if (world.agent.end !== undefined) throw new Error(`the agent ended (${world.agent.end}) before it came true that ${what}`)
        if (performance.now() > deadlineMs) throw new Error(`it did not come true within ${pace.limitMs / 1000} s that ${what}`)
      }
    },
  }
}

function introduce(directory: string): string {
  return `The agent is the real one. The API server, systemd and kubelet are stand-ins, and all run as you, in ${directory}.
Paths are seen from there, a version of a ConfigMap is written name@resourceVersion, and of a UID only the beginning is shown.
A config is on trial for ${TRIAL_SECONDS} s here instead of 10 minutes.`
}
