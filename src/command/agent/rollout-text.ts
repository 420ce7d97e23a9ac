/** The text that `rollout` prints for people. Pure. */

import { describeShare } from '../../rollout/progress.ts'
import { formatDuration, SECOND_US } from '../../values/durations.ts'
import { type RolloutDocument, TURN_WORDS } from './rollout-document.ts'
import { alignColumns, type Cell } from '../terminal.ts'

export function renderRollout({ config, record, turn, progress }: RolloutDocument, color: boolean): string {
  const rows: Cell[][] = [
    ['Config', config],
    ['Record', record],
  ]
  if (progress === null) rows.push(['Stage', 'the rollout of this content has not begun'])
  else {
    const state = progress.halted ? 'halted' : progress.finished ? 'finished' : 'under way'
    rows.push(['Generation', String(progress.generation)])
    rows.push(['Stage', { text: `${progress.stage} of ${progress.lastStage}, ${state}`, tone: progress.halted ? 'bad' : 'plain' }])
    rows.push(['Open to', describeShare(progress)])
    if (!progress.finished) rows.push(['Proofs', `${progress.proofs} of ${progress.needed}`])
    if (progress.claimed.length > 0) rows.push(['On trial', progress.claimed.join(', ')])
    if (progress.silent.length > 0) rows.push(['Silent', { text: progress.silent.join(', '), tone: 'warning' }])
    for (const { node, reason } of progress.vetoes) rows.push(['Veto', { text: `${node}: ${reason}`, tone: 'bad' }])
  }
  const more = turn.waitSeconds === null ? '' : ` (in ${formatDuration(turn.waitSeconds * SECOND_US)})`
  rows.push(['This node', `${TURN_WORDS[turn.kind]}: ${turn.detail}${more}`])
  return `${alignColumns(rows, color).join('\n')}\n`
}
