// SPDX-License-Identifier: Apache-2.0
/**
 * The licences of the third-party components as one text: a list, then each licence in full, once.
 * Pure.
 */
import type { Component, Runtime } from './components.ts'

export function licencesText(components: readonly Component[], runtime: Runtime): string {
  const all = [...components, runtime]
  const rows = all.map(({ name, version, licence, homepage }) =>
    `${`${name} ${version}`.padEnd(40)} ${licence.padEnd(14)} ${homepage ?? ''}`.trimEnd(),
  )
  const texts = new Map<string, string[]>()
  for (const { name, version, licenceText } of components) {
    const text = normal(licenceText)
    texts.set(text, [...(texts.get(text) ?? []), `${name} ${version}`])
  }
  const sections = [...texts].map(([text, names]) => `${RULE}\n${names.join(', ')}\n${RULE}\n\n${text}`)
  return `Components that are distributed with kubelet-cfg-agent, and their licences.
The agent itself is under Apache-2.0. Of each library, only the used parts are included.

${rows.join('\n')}

${[...sections, runtimeSection(runtime)].join('\n')}`
}

function runtimeSection({ name, version, licenceText }: Runtime): string {
  return `${RULE}\n${name} ${version}, with the libraries that it contains\n${RULE}\n\n${normal(licenceText)}`
}

const RULE = '='.repeat(80)

function normal(text: string): string {
  return `${text
    .replace(/\r\n?/g, '\n')
    .replace(/[ \t]+$/gm, '')
    .trim()}\n`
}
