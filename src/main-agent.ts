/**
 * The agent as a process (`run`): takes the directory's lock, notifies systemd, and ends on SIGTERM
 * and SIGINT.
 */
import { fstatSync } from 'node:fs'
import { keepHeapSmall } from './agent/heap.ts'
import { DurableFiles } from './checkpoint/files.ts'
import { layoutOf } from './checkpoint/layout.ts'
import { takeLock } from './checkpoint/lock.ts'
import { holdDirectory, NodeDisk } from './checkpoint/node-disk.ts'
import type { AgentStart } from './command/agent/command.ts'
import { EXIT, type ExitCode } from './command/command.ts'
import { wantsColor } from './command/terminal.ts'
import { type LifeWorld, live } from './main-life.ts'
import { atMost, STOP_LIMIT_MS } from './main-pace.ts'
import { openLiveSettings } from './main-settings.ts'
import { VERSION } from './main-version.ts'
import type { Settings } from './settings/settings.ts'
import { Heartbeat } from './systemd/heartbeat.ts'
import { createLog, type LeveledLog } from './systemd/journal.ts'
import { chooseFormat } from './systemd/log-format.ts'
import { Notifier, type Supervision } from './systemd/notify.ts'

/**
 * By then the agent watches its Node. After another flag V8 no longer takes what is compiled in
 * Node.js: modules of it that are loaded later take 20 ms more.
 */
const LOADED_MS = 1000

export interface AgentWorld extends Pick<LifeWorld, 'clock' | 'yaml' | 'besideDocker' | 'helperProgram' | 'yamlChild'> {
  readonly supervision: Supervision
}

export async function runAgent(start: AgentStart, { clock, supervision, ...programs }: AgentWorld): Promise<ExitCode> {
  setTimeout(() => keepHeapSmall(), LOADED_MS).unref()
  // For ps and top: Node.js names the first thread of every process `node` or MainThread.
  process.title = ['kubelet-cfg-agent', ...process.argv.slice(2)].join(' ')
  const { dynamicConfigDir } = start.settings
  const log = openLog(start.settings)
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort(signal))
  const liveSettings = openLiveSettings(start, log)
  // For all lives: without a listener the signal would end the agent.
  process.on('SIGHUP', () => void liveSettings.reread().catch((error: unknown) => log.error('cannot reread the settings', { error })))
  log.info(`kubelet-cfg-agent ${VERSION} starting`, { pid: process.pid })
  const notifier = new Notifier({ ...supervision, log })
  const heartbeat = new Heartbeat({ clock, watchdogUs: supervision.watchdogUs, send: (message) => notifier.send(message) })
  stop.signal.addEventListener('abort', () => heartbeat.stopping(), { once: true })
  new DurableFiles(new NodeDisk()).makeDirectory(dynamicConfigDir)
  const taken = takeLock(layoutOf(dynamicConfigDir).lock, process.pid)
  if (!taken.ok) {
    log.error(taken.detail)
    return EXIT.failed
  }
  // Only systemd makes the directory again, and starts the next agent.
  const supervised = supervision.socket === undefined ? undefined : { held: holdDirectory(dynamicConfigDir), end }
  let failed = false
  function end(why: string): void {
    log.error(`ending: ${why}`)
    failed = true
    stop.abort('the directory was removed')
  }
  while (!stop.signal.aborted) {
    const why = await live({ ...programs, liveSettings, heartbeat, clock, log, supervised }, stop.signal)
    if (!stop.signal.aborted) log.warn(`starting over: ${why}`)
  }
  log.info('stopped; kubelet keeps running unchanged', { signal: String(stop.signal.reason) })
  taken.lock.release()
  await atMost(STOP_LIMIT_MS / 4, notifier.settled())
  return failed ? EXIT.failed : EXIT.fine
}

function openLog(settings: Settings): LeveledLog {
  const { dev, ino } = fstatSync(1)
  const format = chooseFormat(settings.logFormat, process.env.JOURNAL_STREAM, { isTTY: process.stdout.isTTY, dev, ino })
  return createLog({ level: settings.logLevel, format, colours: wantsColor(process.stdout.isTTY, process.env) })
}
