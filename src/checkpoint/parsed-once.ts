/**
 * By path, what was parsed last, and of which bytes: every observation reads each record, and few
 * have changed since the last one. Pure.
 */
export class ParsedOnce {
  readonly #parsed = new Map<string, { readonly bytes: Buffer; readonly found: unknown }>()

  /** @param parse always the same one for a path */
  of<T>(path: string, bytes: Buffer, parse: (bytes: Buffer) => T): T {
    const last = this.#parsed.get(path)
    if (last?.bytes.equals(bytes) === true) return last.found as T
    const found = parse(bytes)
    this.#parsed.set(path, { bytes, found })
    return found
  }
}
