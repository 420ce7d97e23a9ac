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

/** One line without control characters. */
export function onOneLine(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/\p{Cc}/gu, '?')
    .trim()
}
