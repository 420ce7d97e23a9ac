/** How far a rollout has come, as one line with a bar of its stages, or as plain lines. Pure. */
import { paint, plainText, type Tone } from '../terminal.ts'
import { describeShare } from '../../rollout/progress.ts'
import type { RolloutState } from './rollout-state.ts'

/** Cells of each stage. */
const CELLS = 2

/** One line of the terminal: `██ ██ █▒ ·· ·· ··  stage 2 of 5, 1 % of the nodes: 3 of 5 proofs`. */
export function renderBar(state: RolloutState, color: boolean, width: number): string {
  const { progress, plan } = state
  const stages = Array.from({ length: plan.waves.length + 2 }, (_, stage) => {
    if (progress === undefined || stage > progress.stage) return paint({ text: '·'.repeat(CELLS), tone: 'faint' }, color)
    if (stage < progress.stage || progress.finished) return paint({ text: '█'.repeat(CELLS), tone: 'good' }, color)
    const done = Math.min(CELLS, Math.floor((progress.proofs / progress.needed) * CELLS))
    const tone: Tone = progress.halted ? 'bad' : 'warning'
    return (
      paint({ text: '█'.repeat(done), tone: 'good' }, color) +
      paint({ text: (progress.halted ? '!' : '▒').repeat(CELLS - done), tone }, color)
    )
  })
  const left = Math.max(0, width - stages.length * (CELLS + 1) - 2)
  return `${stages.join(' ')}  ${describeProgress(state).replace('open to ', '').slice(0, left)}`
}

/** One line, without who has vetoed. */
export function describeProgress({ progress, isPaused }: RolloutState): string {
  const pause = isPaused ? '; the config is paused' : ''
  if (progress === undefined) return `the rollout has not begun${pause}`
  const { stage, lastStage, proofs, needed, claimed, finished, halted } = progress
  const place = `stage ${stage} of ${lastStage}, open to ${describeShare(progress)}`
  if (finished) return `${place}: finished${pause}`
  const trials = claimed.length === 0 ? '' : `, ${claimed.length} on trial`
  return `${place}: ${halted ? 'halted' : `${proofs} of ${needed} proofs${trials}`}${pause}`
}

/** The names that the line leaves out. */
export function listNodesOf({ plan, progress }: RolloutState, color: boolean): string[] {
  const excluded = plan.excluded.length === 0 ? [] : [`Excluded: ${plan.excluded.map(plainText).join(', ')}`]
  if (progress === undefined) return excluded
  const { claimed, silent, vetoes, finished } = progress
  return [
    ...(claimed.length === 0 || finished ? [] : [`On trial: ${claimed.map(plainText).join(', ')}`]),
    ...(silent.length === 0 || finished ? [] : [`Did not report in time: ${silent.map(plainText).join(', ')}`]),
    ...vetoes.map(({ node, reason }) => paint({ text: `Failed on ${node}: ${reason}`, tone: 'bad' }, color)),
    ...excluded,
  ]
}
