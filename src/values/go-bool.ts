/** Go's spelling of a boolean, as in kubelet's flags and options (`strconv.ParseBool`). */

const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True']
const FALSE = ['0', 'f', 'F', 'false', 'FALSE', 'False']

/** undefined: it is none. */
export function parseGoBool(text: string): boolean | undefined {
  if (TRUE.includes(text)) return true
  return FALSE.includes(text) ? false : undefined
}
