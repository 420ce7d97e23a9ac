/**
 * Parses `meta/verdicts`, each verdict by itself. After a downgrade, the file may have words and
 * fields that this agent does not know. Such a verdict still condemns its config, so an unknown
 * word counts as the known one that keeps the config from kubelet for longest. Pure.
 */
import { isVerdict, type Verdict } from '../decision/verdict.ts'
import { isObject, type JsonObject } from '../values/is-object.ts'
import { type Check, isAny, isText, listOf, parseJson } from '../values/json-shape.ts'

const CHECK_OF: ReadonlyMap<string, Check<unknown>> = new Map(Object.entries(isVerdict.fields))

export type ParsedVerdicts =
  | {
      readonly ok: true
      readonly verdicts: readonly Verdict[]
      /** What the file holds of each, where that is more than this agent understands. */
      readonly originals: ReadonlyMap<Verdict, unknown>
      /** What is no verdict. */
      readonly rest: number
    }
  | { readonly ok: false; readonly detail: string }

export function parseVerdicts(bytes: Uint8Array): ParsedVerdicts {
  const entries = parseJson(bytes, listOf(isAny))
  if (entries === undefined) return { ok: false, detail: 'not the expected JSON' }
  const verdicts: Verdict[] = []
  const originals = new Map<Verdict, unknown>()
  for (const entry of entries) {
    const verdict = isVerdict(entry) ? entry : interpret(entry)
    if (verdict === undefined) continue
    verdicts.push(verdict)
    if (verdict !== entry) originals.set(verdict, entry)
  }
  const rest = entries.length - verdicts.length
  if (rest > 0 && verdicts.length === 0) return { ok: false, detail: 'none of its entries is a verdict' }
  return { ok: true, verdicts, originals, rest }
}

/** undefined: it does not say what is condemned. */
function interpret(entry: unknown): Verdict | undefined {
  if (!isObject(entry)) return undefined
  const { state: word, damage } = entry
  if (!isText(word)) return undefined
  const understood = keepUnderstood(entry)
  const { state = 'confirmed', damage: known } = understood
  const verdict: unknown = {
    // Kubelet's health need not show an unknown failure. Only preflight refuses.
    reason: state === 'refused' ? 'validate' : 'evidence',
    detail: '',
    atWallMs: 0,
    ...understood,
    state,
    ...(damage !== undefined && known === undefined && { damage: 'one-way' }),
  }
  return isVerdict(verdict) ? verdict : undefined
}

/** Without the known fields that have unknown values. */
function keepUnderstood(entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([name, value]) => CHECK_OF.get(name)?.(value) !== false))
}
