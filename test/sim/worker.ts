// SPDX-License-Identifier: Apache-2.0
/**
 * A process of the pool: runs each part that it is sent. It runs many, since Node.js takes the time
 * of a hundred schedules to compile the agent well.
 */
import { errorMessage } from '../../src/values/errors.ts'
import { type Done, type Part, runPart } from './part.ts'

export type Report = { readonly kind: 'failed'; readonly failure: string } | (Done & { readonly kind: 'done' })

// Ctrl-C reaches the whole process group. The parent ends by it, and this process with its channel.
process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit())

function send(report: Report): void {
  // With a callback, a parent that has just ended is no error of its own.
  if (process.connected) process.send?.(report, undefined, undefined, () => {})
}

process.on('message', async (part: Part) => {
  const failed = (failure: string) => send({ kind: 'failed', failure })
  try {
    send({ kind: 'done', ...(await runPart(part, failed)) })
  } catch (error) {
    failed(errorMessage(error))
    send({ kind: 'done', runs: 1 })
  }
})
