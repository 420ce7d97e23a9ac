// SPDX-License-Identifier: Apache-2.0
/** A table of a page that is written by hand but for it. Pure. */

/** Between two comments of the page. */
export function replaceTable(page: string, table: string): string {
  const [BEGIN, END] = ['<!-- Written by `npm run docs`. Do not edit. -->\n', '<!-- Until here. -->\n']
  const [before, between, after] = [page.split(BEGIN)[0], page.split(BEGIN)[1]?.split(END)[0], page.split(END)[1]]
  if (before === undefined || between === undefined || after === undefined) throw new Error(`the page has no place for a table: ${BEGIN}`)
  return `${before}${BEGIN}\n${table}\n${END}${after}`
}
