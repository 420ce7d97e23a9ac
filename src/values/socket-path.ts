/**
 * The path of a Unix socket by its endpoint, the same for each spelling: empty segments and `.`
 * mean nothing (path_resolution(7)), and /var/run is a link to /run (file-hierarchy(7)). Pure.
 */
export function toSocketPath(endpoint: string): string {
  return endpoint
    .replace(/^unix:(\/\/)?/, '')
    .replace(/\/(?:\.?\/)+/g, '/')
    .replace(/^\/var\/run\//, '/run/')
}
