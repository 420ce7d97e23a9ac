/** Breaks a text between its words, so that its lines have at most a number of columns. Pure. */

/** A word that is longer has a line of its own. */
export function foldText(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
