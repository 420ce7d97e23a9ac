/** What is known of one field of KubeletConfiguration: its JSON type and the versions that have it. Types only. */
export type FieldType =
  | 'string'
  | 'boolean'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'number'
  /** Go's: `1m30s`. Where kubelet has no pointer, its decoder takes null for an empty one, and fails. */
  | 'duration'
  | 'nullable-duration'
  /** A number of nanoseconds; from 1.28 a duration as well. */
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
  /** The minor of 1.x. Left out: 1.20 has it. */
  readonly since?: number
  /** The minor of 1.x that does not know it any more. */
  readonly gone?: number
  /** Of an object, or of each object of a list. */
  readonly fields?: Fields
}

export type Fields = Readonly<Record<string, Field>>
