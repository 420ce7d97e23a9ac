// SPDX-License-Identifier: Apache-2.0
/** Shortens texts for people, and puts them on one line. Pure. */

/** Cuts between UTF-8 characters, never within one. */
export function cutToBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  const ellipsis = '...'
  let end = limit - ellipsis.length
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end).toString() + ellipsis
}

/** Names that people chose and that are longer are cut in a sentence. */
export const LONGEST_NAME = 80

export function shorten(text: string): string {
  return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME)}…` : text
}

/**
 * Characters that can disguise a text: those that control a terminal or the direction of writing,
 * those that nobody sees (zero-width, TAG, fillers, variation selectors), and halves of characters.
 * An API server stores U+FFFD for such a half, so the text would never be the one that was sent.
 */
export const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** One well-formed line without characters that disguise it. */
export function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(UNSAFE, '?').trim()
}

/** With a capital at the beginning, as a sentence has. */
export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
