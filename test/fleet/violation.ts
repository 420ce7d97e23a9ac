// SPDX-License-Identifier: Apache-2.0
/** An event that must never happen, and did. */
export class Violation extends Error {
  constructor(invariant: string, detail: string) {
    super(`${invariant}: ${detail}`)
  }
}
