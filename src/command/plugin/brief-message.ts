/**
 * The message of a condition, without what the other columns of `get` say: in 80 columns its end,
 * which says why, would be cut. Pure.
 */
import { showAge } from './show-age.ts'

/**
 * What introduces the cause, with the config in place of `NAME`, as `report/condition.ts` writes
 * it.
 */
const INTRODUCTIONS: readonly string[] = [
  '^NAME (?:was refused before a restart|was rolled back|failed), (?:falling back|\\S+ runs): ',
  '^NAME has passed its trial(?:; )?',
  '^trial of NAME ',
  '^waits (?:for )?its turn to use NAME: ',
  '^NAME waits for its rollout: ',
  '^the rollout of NAME is halted: ',
  '^NAME(?:: | )',
  ' NAME(?= )',
  '; desired: NAME$',
  '^nothing is assigned: kubelet runs its local config(?:; )?',
]

/** @param config as in `kube-system/pods:kubelet@212`. undefined: it has no name */
export function shortenMessage(message: string, config: string | undefined, wallMs: number): string {
  const name = config === undefined ? undefined : `${config.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?:\\+[\\w-]+)?`
  const known = INTRODUCTIONS.filter((text) => name !== undefined || !text.includes('NAME'))
  const cause = known.reduce((text, introduction) => text.replace(new RegExp(introduction.replace('NAME', name ?? '')), ''), message)
  return cause.replace(/\buntil (\d{4}-\d\d-\d\dT[\d:.]+Z)/g, (text, time: string) => {
    const leftMs = Date.parse(time) - wallMs
    return leftMs > 0 ? `${showAge(new Date(0).toISOString(), leftMs)} left` : text
  })
}
