// SPDX-License-Identifier: Apache-2.0
/** The rules that must hold at every write of a node to the record. */
import { refusal } from './admission.ts'
import type { ConfigObject, RecordObject } from './fleet-api.ts'
import type { Ledger } from './ledger.ts'
import { parsedRecord, planOf } from './parsed.ts'
import { Violation } from './violation.ts'
import { type Clock, checkWindow } from './windows.ts'

interface RecordWrite {
  readonly writer: string
  readonly before: RecordObject
  readonly after: RecordObject
  readonly data: Readonly<Record<string, string | null>>
  readonly config: ConfigObject
  /** Since when the config is as it is, and now. */
  readonly configSinceUs: number
  readonly nowUs: number
  /** Since when the writer waits for something other than its turn; undefined: it does not. */
  readonly unreadySinceUs: number | undefined
  readonly clock: Clock | undefined
}

/** How long a writer may have read the config before its write arrives. */
const OLDEST_READING_US = 20_000_000

export function checkWrite(write: RecordWrite, ledger: Ledger): void {
  isNeverEmpty(write)
  staysReadable(write)
  generationNeverGoesBack(write)
  isAdmitted(write)
  onlyReadyNodesClaim(write)
  claimsKeepThePlan(write, ledger)
  const state = write.after.data.state?.split(' ') ?? []
  if (write.data.state === undefined || state[2] !== '0' || state[3] === undefined) return
  ledger.generations += 1
  if (write.data[`node.${write.writer}`]?.includes(' claim ')) ledger.count(ledger.begins, state[3])
}

function isNeverEmpty({ writer, data }: RecordWrite): void {
  if (Object.keys(data).length === 0) throw new Violation('every write says something', `${writer} sent an empty patch`)
}

function staysReadable({ writer, after }: RecordWrite): void {
  const parsed = parsedRecord(after)
  if (!parsed.ok) throw new Violation('what a node writes every node can read', `${writer}: ${parsed.problem}`)
}

function generationNeverGoesBack({ writer, before, after }: RecordWrite): void {
  const [was, is] = [before, after].map(({ data }) => (data.state ?? '1 0 0').split(' ').map(Number))
  const [, wasGeneration = 0, wasStage = 0] = was ?? []
  const [, isGeneration = 0, isStage = 0] = is ?? []
  const back = isGeneration < wasGeneration || (isGeneration === wasGeneration && isStage < wasStage)
  if (back)
    throw new Violation(
      'neither a generation nor a stage goes back',
      `${writer}: ${wasGeneration}/${wasStage} to ${isGeneration}/${isStage}`,
    )
}

/** A claim of a node that waits for a drain, a window or a pause would hold a place for nothing. */
function onlyReadyNodesClaim({ writer, data, config, configSinceUs, nowUs, unreadySinceUs }: RecordWrite): void {
  const claims = data[`node.${writer}`]?.includes(' claim ') === true
  const sinceUs = config.paused ? configSinceUs : (unreadySinceUs ?? nowUs)
  if (claims && nowUs - sinceUs > OLDEST_READING_US) throw new Violation('only a node that is ready claims', writer)
}

/** Windows, and the rest of a stage. */
function claimsKeepThePlan({ writer, before, after, data, config, configSinceUs, nowUs, clock }: RecordWrite, ledger: Ledger): void {
  const plan = planOf(config)
  const claims = data[`node.${writer}`]?.includes(' claim ') === true
  if (clock === undefined || !claims || !plan.ok || nowUs - configSinceUs < OLDEST_READING_US) return
  checkWindow(config, clock, nowUs, OLDEST_READING_US, writer)
  if (data.state !== undefined || before.data.state !== after.data.state) return
  const openedUs = ledger.stageOpenedUs.get(`${config.uid} ${before.data.state}`) ?? 0
  if (nowUs - openedUs < plan.plan.restUs) throw new Violation('nobody claims before the stage has been open for the rest', writer)
}

/** An honest write is refused only where the config has changed since its reading. */
function isAdmitted({ writer, before, after, config, configSinceUs, nowUs }: RecordWrite): void {
  const plan = planOf(config)
  if (!plan.ok || nowUs - configSinceUs < OLDEST_READING_US) return
  const refused = refusal(before, after, writer, config, plan.plan)
  if (refused !== undefined) throw new Violation('the admission policy allows what an honest node writes', `${writer}: ${refused}`)
}
