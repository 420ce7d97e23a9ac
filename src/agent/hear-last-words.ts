/**
 * Adds to the latest exits what kubelet said before it exited. It is asked for right after an exit,
 * so a settled node never pays for it. Pure; what reads the journal is passed in.
 */
import type { HealthRecord, KubeletExit } from '../decision/health.ts'
import type { LastWords } from '../ports/unit.ts'
import { MINUTE_US } from '../values/durations.ts'

/** Two exits can be noticed at once. */
const MOST_ASKED = 2

export async function hearLastWords(lastWords: LastWords, health: HealthRecord, nowUs: number): Promise<HealthRecord> {
  const exits = health.recentExits ?? []
  const isWanted = ({ invocationId, words, atUs }: KubeletExit) => invocationId !== '' && words === undefined && nowUs - atUs < MINUTE_US
  const wanted = exits.slice(-MOST_ASKED).filter(isWanted)
  if (wanted.length === 0) return health
  const heard = new Map(
    await Promise.all(wanted.map(async ({ invocationId }) => [invocationId, await lastWords.of(invocationId)] as const)),
  )
  const recentExits = exits.map((exit) => {
    const words = heard.get(exit.invocationId)
    return words === undefined ? exit : { ...exit, words }
  })
  return { ...health, recentExits }
}
