// SPDX-License-Identifier: Apache-2.0
/**
 * The module for `--import` in a process that a test starts, whatever its working directory is. It
 * loads this project's TypeScript as tsx does, for less CPU.
 */
export const LOADER = new URL('./register.mjs', import.meta.url).href
