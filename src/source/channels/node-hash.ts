/**
 * A hash of everything by which the Node itself takes part in its assignment. Where it stayed the
 * same and the assignment changed, the change comes from something that nodes share: a ConfigMap, a
 * selector, the default. Pure.
 */
import { createHash } from 'node:crypto'
import { CONFIG_LABEL, CONFIG_SOURCE_ANNOTATION } from '../../decision/channels.ts'
import { readAssignment } from '../config-source-field.ts'
import { metadataOf } from './metadata.ts'
import type { ChannelSettings } from './resolve.ts'

export function hashNode(node: unknown, { channels }: Pick<ChannelSettings, 'channels'>): string {
  const { labels = {}, annotations = {} } = metadataOf(node) ?? {}
  const said = {
    configSource: channels.includes('config-source') ? readAssignment(node) : undefined,
    label: channels.includes('label') ? labels[CONFIG_LABEL] : undefined,
    annotation: channels.includes('annotation') ? annotations[CONFIG_SOURCE_ANNOTATION] : undefined,
    // Which of them a selector looks at changes with the ConfigMaps.
    labels: channels.includes('selector') ? Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)) : undefined,
  }
  return createHash('sha256').update(JSON.stringify(said)).digest('hex').slice(0, LENGTH)
}

const LENGTH = 16
