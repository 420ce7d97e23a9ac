/**
 * Which unit took kubelet's with it. A unit that is bound to another (`BindsTo=`) is stopped by
 * systemd when that one ends, whoever or whatever ended it. Pure.
 */
export const BOUND_PROPERTIES = ['Id', 'ActiveExitTimestampMonotonic', 'InactiveEnterTimestampMonotonic', 'After'] as const

interface Ended {
  /** CLOCK_MONOTONIC of the start of kubelet's last process. */
  readonly startedAtUs: number
  /** As `UnitDown` has it. */
  readonly activeExitUs: number
}

/**
 * The unit that ended by itself while kubelet ran, and before kubelet's own stop began. A person
 * who stops it stops kubelet before: systemd stops units in the reverse order of their start
 * (systemd.unit(5), "After="). Without that order, its own times have to tell that nothing stopped
 * it: it was inactive as soon as it was no longer active.
 *
 * @param output of `systemctl show` for BOUND_PROPERTIES of kubelet's unit, and then of the others
 */
export function findEndedUnit(output: string, { startedAtUs, activeExitUs }: Ended): string | undefined {
  const [kubelet, ...others] = output.split('\n\n').map(parseProperties)
  const after = new Set((kubelet?.get('After') ?? '').split(' '))
  const ended = others.find((unit) => {
    const exitUs = Number(unit.get('ActiveExitTimestampMonotonic') ?? 0)
    const isBefore = startedAtUs <= exitUs && exitUs <= activeExitUs
    return isBefore && (after.has(unit.get('Id') ?? '') || exitUs === Number(unit.get('InactiveEnterTimestampMonotonic')))
  })
  return ended?.get('Id')
}

function parseProperties(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split('\n').map((line) => {
      const equals = line.indexOf('=')
      return [line.slice(0, Math.max(0, equals)), line.slice(equals + 1)]
    }),
  )
}
