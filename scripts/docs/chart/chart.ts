// SPDX-License-Identifier: Apache-2.0
/**
 * The Helm chart in charts/kubelet-cfg-agent: its templates from the manifests of deploy/, its
 * default values from its schema, and its version from package.json. Written by hand are only
 * values.schema.json, _helpers.tpl, checks.yaml and NOTES.txt. Pure.
 */
import { readManifest, splitManifest } from './manifest.ts'
import { type Part, type Swap, TEMPLATES } from './templates.ts'
import { defaultValues } from './values.ts'

export const CHART = 'charts/kubelet-cfg-agent'
export const SCHEMA = `${CHART}/values.schema.json`

type Read = (path: string) => string

/** @returns the text of each file, by its path */
export function chartFiles(read: Read): Readonly<Record<string, string>> {
  const { name, version, description } = JSON.parse(read('package.json')) as Record<'name' | 'version' | 'description', string>
  const templates = TEMPLATES.map(({ path, parts }) => [`${CHART}/templates/${path}`, template(path, readManifest(read, path), parts)])
  return {
    [`${CHART}/Chart.yaml`]: `# Made by \`npm run docs\` from package.json. Do not edit.
apiVersion: v2
name: ${name}
version: ${version}
appVersion: ${version}
description: ${JSON.stringify(`The cluster's side of ${name}, and on request its installer. ${description}`)}
type: application
kubeVersion: ">=1.20.0-0"
`,
    [`${CHART}/values.yaml`]: defaultValues(JSON.parse(read(SCHEMA))),
    ...Object.fromEntries(templates),
  }
}

function template(path: string, manifest: string, parts: readonly Part[]): string {
  const documents = splitManifest(escapeBraces(manifest))
  const [first] = parts
  const pieces =
    parts.length === 1 && first !== undefined
      ? [piece(path, documents.join('---\n'), first)]
      : documents.map((document, index) => {
          const part = parts[index]
          if (part === undefined || parts.length !== documents.length)
            throw new Error(`deploy/${path} has ${documents.length} documents, and templates.ts says what becomes of ${parts.length}`)
          return piece(path, document, part)
        })
  return `{{- /* Made by \`npm run docs\` from deploy/${path}, which says what it is for. Do not edit. */ -}}\n${pieces.join('')}`
}

/** Prometheus' own templates are text to Helm. */
function escapeBraces(text: string): string {
  return text.replace(/\{\{[^}]*\}\}/g, '{{`$&`}}')
}

function piece(path: string, text: string, { when, each, swaps }: Part): string {
  if (when === 'never') return ''
  const swapped = swaps.reduce((result, swap) => put(path, result, swap), text)
  const labelled = swapped.replace(
    /^metadata:\n {2}name: .*$/gm,
    `$&\n  labels:\n    {{- include "kubelet-cfg-agent.labels" $$ | nindent 4 }}`,
  )
  const conditions = [...(when === undefined ? [] : [`if ${when}`]), ...(each === undefined ? [] : [`range ${each}`])]
  return `${conditions.map((condition) => `{{- ${condition} }}\n`).join('')}---\n${labelled}${conditions.map(() => '{{- end }}\n').join('')}`
}

function put(path: string, text: string, [find, by]: Swap): string {
  const result = typeof find === 'string' ? text.split(find).join(by) : text.replace(find, by)
  if (result === text) throw new Error(`deploy/${path} has nothing like ${find}: adapt scripts/docs/chart/templates.ts`)
  return result
}
