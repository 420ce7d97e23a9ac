/** What must never happen, when it did. */
export class Violation extends Error {
  constructor(invariant: string, detail: string) {
    super(`${invariant}: ${detail}`)
  }
}
