// SPDX-License-Identifier: Apache-2.0
import type { Architecture } from './architectures.ts'
import type { Compression } from './compression.ts'
import type { Project } from './project.ts'

/** The input that a deb and an rpm are built from. */
export interface PackageInput {
  /** The directory of the installed files. */
  readonly payload: string
  /** Where the package is made. */
  readonly directory: string
  readonly architecture: Architecture
  readonly compression: Compression
  readonly project: Project
}
