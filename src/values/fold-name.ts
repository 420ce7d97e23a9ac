/**
 * A name without its case, as Go's encoding/json compares keys with the names of fields
 * (`foldName`): ſ and the sign of Kelvin count as letters, too. Pure.
 */
export function foldName(name: string): string {
  return name.toUpperCase().toLowerCase()
}
