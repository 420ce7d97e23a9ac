/**
 * What Go makes of a YAML scalar with an explicit tag or with escapes, where the library makes
 * something else of it. Pure. Rules: `resolve` and `scalar`, gopkg.in/yaml.v2, where the text has
 * to be of the type that its tag names; `yaml_parser_scan_flow_scalar`, which takes no half of a
 * surrogate pair, not even both of them.
 */
import { isGoInteger, readGoNumber } from './yaml-number.ts'

export interface TaggedScalar {
  /** As in `tag:yaml.org,2002:int`. undefined: none is written. */
  readonly tag: string | undefined
  /** Without quotes and escapes. */
  readonly source: string
  /** As the library has it. */
  readonly value: unknown
}

export type ScalarReading = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string }

const PREFIX = 'tag:yaml.org,2002:'
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const NULLS: readonly string[] = ['', '~', 'null', 'Null', 'NULL']
/** Without a number for its indentation, as `yaml_parser_scan_block_scalar_breaks` looks for it. */
const TABBED_BLOCK = /^[|>][-+]?[ \t]*(?:#[^\n]*)?\n(?: *\n)* *\t/
const NOT_A_NUMBER = /^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/

export function readScalar({ tag, source, value }: TaggedScalar): ScalarReading {
  if (tag?.startsWith(PREFIX) !== true) return { ok: true, value }
  const type = tag.slice(PREFIX.length)
  const wrong = (fits: boolean): ScalarReading =>
    fits ? { ok: true, value } : { ok: false, why: `this is not what the tag !!${type} says` }
  switch (type) {
    case 'binary': {
      const encoded = source.replace(/[\r\n]/g, '')
      return BASE64.test(encoded)
        ? { ok: true, value: Buffer.from(encoded, 'base64').toString('utf8') }
        : { ok: false, why: 'this is not base64, as the tag !!binary says' }
    }
    case 'null':
      return wrong(NULLS.includes(source))
    case 'bool':
      return wrong(typeof value === 'boolean')
    case 'int':
      return wrong(isGoInteger(source))
    case 'float':
      return wrong(NOT_A_NUMBER.test(source) || readGoNumber(source) !== undefined)
    default:
      return { ok: true, value }
  }
}

/** @param raw a scalar as it is written */
export function findBadText(raw: string): string | undefined {
  if (raw.startsWith('"')) return hasBadEscape(raw) ? 'half a surrogate pair is no character' : undefined
  return TABBED_BLOCK.test(raw) ? 'a tab stands where the indentation is looked for' : undefined
}

function hasBadEscape(raw: string): boolean {
  for (const [, short, long] of raw.matchAll(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|[\s\S])/g)) {
    const code = Number.parseInt(short ?? long ?? '0', 16)
    if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return true
  }
  return false
}
