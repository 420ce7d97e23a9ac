// SPDX-License-Identifier: Apache-2.0
/** Work on many items, of which only some are under way at the same time. */
export async function someAtATime<T>(
  items: readonly T[],
  count: number,
  work: (item: T, index: number) => Promise<unknown>,
): Promise<void> {
  // Each takes the next one.
  const left = items.entries()
  const workOn = async (): Promise<void> => {
    for (const [index, item] of left) await work(item, index)
  }
  await Promise.all(Array.from({ length: count }, workOn))
}
