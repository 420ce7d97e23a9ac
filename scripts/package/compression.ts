// SPDX-License-Identifier: Apache-2.0
/**
 * How much a package is compressed. Nine tenths of it is Node.js, and compressing that takes most
 * of the time of a build.
 */
export interface Compression {
  /** The level of xz(1), for deb and rpm. */
  readonly xz: number
  /** The level of gzip(1), for the archives of the plugin. */
  readonly gzip: number
  /** A deb or rpm that is bigger has something in it that does not belong there. */
  readonly mostBytes: number
}

/**
 * The compression of a release. Level 6 of xz takes two thirds more CPU than 4, and saves a
 * twenty-fifth of the package. Level 9 of gzip takes three times as long as 6, and saves a
 * hundredth.
 */
export const SHIPPED: Compression = { xz: 4, gzip: 6, mostBytes: 30_000_000 }

/** For tests: a seventh of the CPU, and packages that are a fifth bigger. Nothing else differs. */
export const QUICK: Compression = { xz: 0, gzip: 1, mostBytes: 37_000_000 }
