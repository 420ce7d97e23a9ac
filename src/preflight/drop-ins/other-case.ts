/**
 * Keys of a drop-in that are names of fields but for upper and lower case. Kubelet ignores them in
 * the file of `--config`, and not in a drop-in: what it has merged it decodes with encoding/json,
 * which prefers no spelling (`mergeKubeletConfigurations`, cmd/kubelet/app/server.go, 1.30 to
 * 1.36). Of two spellings, the one that is sorted last wins. Pure.
 */
import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { Fields } from '../../kubelet/field.ts'
import type { FieldPath } from '../../kubelet/field-path.ts'
import { listObjects } from '../../kubelet/field-types.ts'
import { FIELDS } from '../../kubelet/fields.ts'

export interface OtherCase {
  readonly path: FieldPath
  /** As kubelet's reference spells it. */
  readonly field: string
}

export function listOtherCase(config: KubeletConfig, fields: Fields = FIELDS, path: FieldPath = []): OtherCase[] {
  return Object.entries(config).flatMap(([name, value]): OtherCase[] => {
    const here = [...path, name]
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) {
      const meant = Object.keys(fields).find((known) => fold(known) === fold(name))
      return meant === undefined ? [] : [{ path: here, field: meant }]
    }
    const inner = field.fields
    return inner === undefined ? [] : listObjects(field, value, here).flatMap(([object, at]) => listOtherCase(object, inner, at))
  })
}

/** `foldName`, encoding/json: ſ and the sign of Kelvin count as letters, too. */
function fold(name: string): string {
  return name.toUpperCase().toLowerCase()
}
