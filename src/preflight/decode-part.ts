/**
 * The part `fields` as far as kubelet's decoder goes: what keeps kubelet from reading a config, the rules that hold in every version, and top-level
 * keys it does not know. Pure. Wherever a text says where something stands, that is passed on; nothing quotes the text.
 */
import { nearest } from '../agent/nearest.ts'
import { decodeConfig } from '../kubelet/decode.ts'
import { FIELDS, isFieldName } from '../kubelet/fields.ts'
import { loadParser } from '../kubelet/preflight.ts'
import { validateConfig } from '../kubelet/validate.ts'
import type { Finding, Position } from './finding.ts'
import type { InspectPart } from './inspection.ts'

export const decodePart: InspectPart = {
  name: 'fields',
  async judge(text, _config, { unknownKeys = 'warn' }) {
    const decoded = decodeConfig(text, await loadParser(text))
    if (!decoded.ok) {
      const finding = { ...about('fields/load', 'load', withoutPlace(decoded.detail)), position: findPlace(decoded.detail) }
      return { outcome: 'refused', detail: 'kubelet could not read it', findings: [finding] }
    }
    const invalid = validateConfig(decoded.config).map((problem) => about('fields/value', 'validate', problem))
    const repeated = decoded.remarks
      .filter((remark) => !remark.startsWith('unknown field'))
      .map(
        (remark): Finding => ({
          ...about('fields/repeated-key', 'load', withoutPlace(remark)),
          severity: 'warn',
          position: findPlace(remark),
        }),
      )
    const keys = Object.keys(decoded.config).filter((name) => name !== 'apiVersion' && name !== 'kind')
    const unknown = keys
      .filter((name) => !isFieldName(name))
      .map(
        (name): Finding => ({
          ...about('fields/unknown-key', 'load', 'no kubelet knows this field: it is ignored'),
          severity: unknownKeys,
          path: [name],
          position: locateTopLevel(text, name),
          advice: `the nearest known name is ${nearest(name, Object.keys(FIELDS))}`,
        }),
      )
    const findings = [...invalid, ...repeated, ...unknown]
    const refuses = findings.some(({ severity }) => severity === 'refuse')
    const count = keys.length === 1 ? '1 field is' : `${keys.length} fields are`
    const detail = refuses ? 'read, but not as it should be' : `read: ${count} set, and within the rules of every version`
    return { outcome: refuses ? 'refused' : 'accepted', detail, findings }
  },
}

function about(rule: string, reason: Finding['reason'], problem: string): Finding {
  return { rule, severity: 'refuse', reason, path: [], position: undefined, problem, advice: undefined }
}

/** As the parser words it. */
const PLACE = / ?\(?at line (\d+)(?:, column (\d+))?\)?/

function withoutPlace(detail: string): string {
  return detail.replace(PLACE, '')
}

function findPlace(detail: string): Position | undefined {
  const [, line, column = '1'] = PLACE.exec(detail) ?? []
  return line === undefined ? undefined : { line: Number(line), column: Number(column) }
}

/** Only where it stands at the beginning of a line, as in block style. */
function locateTopLevel(text: string, name: string): Position | undefined {
  const spellings = [`${name}:`, `"${name}":`, `'${name}':`]
  const index = text.split('\n').findIndex((line) => spellings.some((spelling) => line.startsWith(spelling)))
  return index < 0 ? undefined : { line: index + 1, column: 1 }
}
