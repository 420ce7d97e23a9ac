/** A text with its first letter as a capital, as at the beginning of a sentence. Pure. */
export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
