/**
 * Keys of a drop-in that are names of fields but for upper and lower case. Kubelet ignores them in
 * the file of `--config`, and not in a drop-in: what it has merged it decodes with encoding/json,
 * which prefers no spelling (`mergeKubeletConfigurations`, cmd/kubelet/app/server.go, 1.30 to
 * 1.37). Of two spellings, the one that is sorted last wins. Pure.
 */
import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { Fields } from '../../kubelet/field.ts'
import type { FieldPath } from '../../kubelet/field-path.ts'
import { listObjects } from '../../kubelet/field-types.ts'
import { FIELDS } from '../../kubelet/fields.ts'
import { foldName } from '../../values/go-syntax.ts'

export interface OtherCase {
  readonly path: FieldPath
  /** As kubelet's reference spells it. */
  readonly field: string
}

/** A config has few such keys. A hostile one may have as many as fit into a ConfigMap. */
const MOST = 20

const spellings = new WeakMap<Fields, ReadonlyMap<string, string>>()

/** The first of them. */
export function listOtherCase(config: KubeletConfig): OtherCase[] {
  return listAt(config, FIELDS, []).slice(0, MOST)
}

function listAt(config: KubeletConfig, fields: Fields, path: FieldPath): OtherCase[] {
  const byFolded = foldedNames(fields)
  return Object.entries(config).flatMap(([name, value]): OtherCase[] => {
    const here = [...path, name]
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) {
      const meant = byFolded.get(foldName(name))
      return meant === undefined ? [] : [{ path: here, field: meant }]
    }
    const inner = field.fields
    return inner === undefined ? [] : listObjects(field, value, here).flatMap(([object, at]) => listAt(object, inner, at))
  })
}

function foldedNames(fields: Fields): ReadonlyMap<string, string> {
  const known = spellings.get(fields)
  if (known !== undefined) return known
  const names = new Map(Object.keys(fields).map((name) => [foldName(name), name]))
  spellings.set(fields, names)
  return names
}
