// SPDX-License-Identifier: Apache-2.0
/**
 * Faults of the code blocks in the documents: every block says what it holds, and holds that. Each
 * problem is one line.
 */
import { isFieldName } from '../../src/kubelet/fields.ts'
import { parseDocuments, parseLocated } from '../../src/kubelet/yaml.ts'
import { readOverlay } from '../../src/overlay/read-overlay.ts'
import { CONFIG_API_VERSION, CONFIG_KIND, resolveSettings } from '../../src/settings/resolve-settings.ts'
import { isObject } from '../../src/values/is-object.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import type { Block, Page } from './markdown.ts'

/** The first word of a block's info. After `yaml` comes what the YAML is. */
const LANGUAGES = ['sh', 'console', 'text', 'json', 'ini', 'mermaid', 'diff']
const YAML_KINDS = ['yaml settings', 'yaml overlay', 'yaml manifest', 'yaml file=NAME']
const DIAGRAM = /^(flowchart (LR|TD)|stateDiagram-v2|sequenceDiagram)\n/

export async function findWrongBlocks(pages: readonly Page[]): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const { path, blocks } of pages) {
    for (const block of blocks) {
      const problem = await describeBlock(block)
      if (problem !== undefined) wrong.push(`${path}:${block.line}: ${problem}`)
    }
  }
  return wrong
}

async function describeBlock({ info, text }: Block): Promise<string | undefined> {
  const [language = '', kind = ''] = info.split(' ')
  if (language === 'yaml') return describeYaml(kind, text)
  if (!LANGUAGES.includes(language)) return `"${info}" is not one of ${[...LANGUAGES, ...YAML_KINDS].join(', ')}`
  if (language === 'json' && !isJsonObject(text)) return 'this is not a JSON object'
  if (language === 'mermaid' && !DIAGRAM.test(text)) return 'this does not begin like a diagram that GitHub draws'
  return undefined
}

async function describeYaml(kind: string, text: string): Promise<string | undefined> {
  const read = parseDocuments(`${text}\n`)
  if (!read.ok) return `this is not YAML: ${read.detail}`
  const values = read.documents.map((document) => (isObject(document) ? document.value : undefined))
  switch (kind.replace(/=.*$/, '')) {
    case 'settings':
      return describeSettings(values)
    case 'overlay':
      return describeOverlay(values, text)
    case 'manifest':
    case 'file':
      return values.every(isManifest) ? undefined : 'this has no apiVersion or no kind'
    default:
      return `a block of YAML says what it holds: ${YAML_KINDS.join(', ')}`
  }
}

function isManifest(value: unknown): boolean {
  return isObject(value) && typeof value.apiVersion === 'string' && typeof value.kind === 'string'
}

/** A part of the file is enough: its first two lines may be left out. */
function describeSettings([value]: readonly unknown[]): string | undefined {
  if (!isObject(value)) return 'this is not a mapping'
  const file = { kind: 'document', path: 'settings', value: { apiVersion: CONFIG_API_VERSION, kind: CONFIG_KIND, ...value } } as const
  const resolution = resolveSettings({ flags: {}, env: {}, file })
  return resolution.ok ? undefined : resolution.problems.join('; ')
}

async function describeOverlay([value]: readonly unknown[], text: string): Promise<string | undefined> {
  const view = await readOverlay(new Map([['overlay.yaml', Buffer.from(text)]]), IN_PLACE, parseLocated)
  if (view.kind !== 'present' || !isObject(value)) return `this is not an overlay: ${view.kind === 'faulty' ? view.detail : 'it is empty'}`
  const unknown = Object.keys(value).filter((key) => !['apiVersion', 'kind'].includes(key) && !isFieldName(key))
  return unknown.length === 0 ? undefined : `kubelet's config has no field ${unknown.join(', ')}`
}

export function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}
