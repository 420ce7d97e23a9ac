/** A record that cannot be written, since a name in it is not safe. */
export class RecordError extends Error {
  override readonly name = 'RecordError'
  readonly code = 'unsafe-name'
}
