/** An event that must never happen, and did. */
export class Violation extends Error {
  constructor(invariant: string, detail: string) {
    super(`${invariant}: ${detail}`)
  }
}
