/** A document for programs: indented JSON that ends its last line. Pure. */
export function formatJson(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`
}
