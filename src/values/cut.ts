/** Shortens texts and puts them on one line. Pure. */

/** Cuts between UTF-8 characters, never within one. */
export function cutToBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  const ellipsis = '...'
  let end = limit - ellipsis.length
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end).toString() + ellipsis
}

/**
 * Control characters, characters that change the direction of writing, and halves of characters. An
 * API server stores U+FFFD for such a half, so the text would never be the one that was sent.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** One well-formed line without control characters. */
export function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(UNSAFE, '?').trim()
}
