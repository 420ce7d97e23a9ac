// SPDX-License-Identifier: Apache-2.0
/**
 * Type of the entries in the table of fields: JSON type, kubelet versions, defaults. Types only.
 */
export type FieldType =
  | 'string'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'number'
  /** Go's: `1m30s`. Not a pointer upstream: null fails, since the decoder parses it as empty. */
  | 'duration'
  | 'nullable-duration'
  /** A number of nanoseconds; from 1.28 on also a duration. */
  | 'nanoseconds'
  /** `100Mi`, or a number. */
  | 'quantity'
  /** RFC 3339. */
  | 'time'
  | 'object'
  | 'objects'
  | 'strings'
  | 'int32s'
  | 'string-map'
  | 'boolean-map'
  | 'strings-map'
  | 'quantity-map'

export interface Field {
  readonly type: FieldType
  /** The minor of 1.x that added it. Default: 1.20 or older. */
  readonly since?: number
  /** The minor of 1.x that removed it. */
  readonly gone?: number
  /** Fields of the object, or of each object of the list. */
  readonly fields?: FieldTable
}

/** The value of a field where the config does not set it. */
export interface FieldDefaults {
  /**
   * Defaults by the minor version that introduced them; the last one that is not too new applies.
   */
  readonly initial?: readonly (readonly [sinceMinor: number, value: unknown])[]
  /**
   * From this minor on, zero and empty are values of their own: upstream has a pointer there, or
   * nothing that replaces them. Without it they mean "not set".
   */
  readonly zeroSince?: number
}

export type FieldTable = Readonly<Record<string, Field>>
