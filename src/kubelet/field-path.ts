/** How the path of a field reads: `authentication.x509.clientCAFile`, `reservedMemory[0].limits`, `evictionHard["memory.available"]`. Pure. */

export function formatPath(path: FieldPath): string {
  return path.map((step, index) => formatStep(step, index === 0)).join('')
}

function formatStep(step: string | number, first: boolean): string {
  if (typeof step === 'number') return `[${step}]`
  if (/^[A-Za-z_][\w-]*$/.test(step)) return first ? step : `.${step}`
  return `[${JSON.stringify(step)}]`
}

/** Names of fields, indices of lists, keys of maps: `['evictionHard', 'memory.available']`. Empty: the document as a whole. */
export type FieldPath = readonly (string | number)[]
