// SPDX-License-Identifier: Apache-2.0
/**
 * The results of parsing, for code that may not wait: a look at a text that is not parsed yet
 * starts that, and the owner looks again. A result is handed over once: the owner keeps what it
 * makes of it. Pure; what parses is passed in.
 */
export class ParsedTexts<T> {
  readonly #parse: (text: string) => Promise<T>
  readonly #onError: (error: unknown) => void
  /** By text. */
  readonly #known = new Map<string, { readonly result: T | undefined; readonly waiting: (() => void)[] }>()

  /** @param onError the parser could not run; the next look tries again */
  constructor(parse: (text: string) => Promise<T>, onError: (error: unknown) => void) {
    this.#parse = parse
    this.#onError = onError
  }

  /** undefined: not parsed yet. Then `onParsed` is called when it is. */
  look(text: string, onParsed: () => void): T | undefined {
    const known = this.#known.get(text)
    if (known === undefined) void this.#start(text, onParsed)
    else if (known.result === undefined) known.waiting.push(onParsed)
    else this.#known.delete(text)
    return known?.result
  }

  async #start(text: string, onParsed: () => void): Promise<void> {
    // Results that nobody came for: their texts have changed meanwhile.
    for (const [other, { result }] of this.#known) if (result !== undefined) this.#known.delete(other)
    const waiting = [onParsed]
    this.#known.set(text, { result: undefined, waiting })
    try {
      this.#known.set(text, { result: await this.#parse(text), waiting: [] })
    } catch (error) {
      this.#known.delete(text)
      this.#onError(error)
      return
    }
    for (const call of waiting) call()
  }
}
