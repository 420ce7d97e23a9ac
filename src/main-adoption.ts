/**
 * Takes over what kubelet's own Dynamic Kubelet Configuration left behind, where the settings say
 * so. Not before kubelet has stopped using it: at its next start, kubelet would find no store, and
 * make an empty one, without its last-known-good.
 */
import { adoptKubeletStore, findKubeletStore, isAdoptionOpen } from './checkpoint/adopt.ts'
import type { UnitState } from './decision/unit-state.ts'
import type { Stores } from './main-stores.ts'
import type { Clock } from './ports/clock.ts'
import type { Log } from './ports/log.ts'
import type { Settings } from './settings/settings.ts'
import { HOUR_US, MINUTE_US } from './values/durations.ts'

export interface AdoptionWorld {
  readonly settings: Pick<Settings, 'adopt' | 'dynamicConfigDir'>
  readonly stores: Pick<Stores, 'files' | 'layout' | 'checkpoints'> & { readonly unit: Pick<Stores['unit'], 'observe'> }
  readonly clock: Clock
  /** How long the agent has run. */
  readonly uptimeUs: () => number
  readonly log: Log
}

export interface Adoption {
  /**
   * Why what had to stay can be taken over now. That takes a new life of the agent, in which
   * nothing has read the directory yet. undefined: it cannot, or nothing had to stay.
   */
  findOccasion(unit: UnitState): string | undefined
}

const NOTHING_LEFT: Adoption = { findOccasion: () => undefined }
/**
 * The disk may have been full, or read-only, for a moment. The longer the agent has run, the less
 * often it starts over for that.
 */
function retryAfterUs(uptimeUs: number): number {
  return Math.min(Math.max(uptimeUs, MINUTE_US), HOUR_US)
}

/** Must be called before anything else reads the directory. */
export async function openAdoption({ settings, stores, clock, uptimeUs, log }: AdoptionWorld): Promise<Adoption> {
  const { files, layout, checkpoints, unit } = stores
  const store = findKubeletStore(files, layout)
  if (store === undefined) return NOTHING_LEFT
  if (!settings.adopt) {
    log.warn(`${settings.dynamicConfigDir} holds checkpoints of kubelet's own dynamic configuration; start with --adopt to take them over`)
    return NOTHING_LEFT
  }
  const obstacle = findUser(await unit.observe())
  if (obstacle !== undefined) {
    log.warn(`${store} is not taken over yet: ${obstacle}`)
    const occasion = 'kubelet no longer uses its own dynamic configuration, so it can be taken over'
    return { findOccasion: (seen) => (findUser(seen) === undefined ? occasion : undefined) }
  }
  try {
    const { checkpoints: count, remarks } = adoptKubeletStore(files, checkpoints, layout)
    if (count > 0) log.info(`adopted ${count} checkpoints that kubelet left behind`)
    for (const remark of remarks) log.warn(remark)
  } catch (error) {
    // As on a disk that is full or read-only. An agent that ends would watch over nothing.
    log.error(`cannot take over ${store}; trying again later, unless a config was assigned by then`, { error })
    const retryAtUs = clock.now().monotonicUs + retryAfterUs(uptimeUs())
    const isDue = (seen: UnitState) => clock.now().monotonicUs >= retryAtUs && findUser(seen) === undefined && isOpen(stores)
    return { findOccasion: (seen) => (isDue(seen) ? `trying again to take over ${store}` : undefined) }
  }
  return NOTHING_LEFT
}

function isOpen({ files, layout }: AdoptionWorld['stores']): boolean {
  try {
    return isAdoptionOpen(files, layout)
  } catch {
    // It could not be taken over from a disk that cannot be read either.
    return false
  }
}

/** Why kubelet uses its store, or may use it. undefined: it does not. */
function findUser(unit: UnitState): string | undefined {
  if (unit.kind === 'unknown') return `whether kubelet still uses it is not known: ${unit.detail}`
  if (unit.wiring.kind === 'broken' && unit.wiring.reason === 'dynamic-config-dir') return unit.wiring.detail
  // The flags in force are those of the process.
  return unit.process.kind === 'unknown' ? `whether kubelet still uses it is not known: ${unit.process.detail}` : undefined
}
