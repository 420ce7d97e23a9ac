// SPDX-License-Identifier: Apache-2.0
/** The modules that a module may import and still do nothing but compute. */

/** Of Node.js, without their `node:`. */
export const PURE_BUILTINS = ['assert', 'buffer', 'crypto', 'path', 'path/posix', 'querystring', 'string_decoder', 'url', 'util']
/** Libraries. */
export const PURE_PACKAGES = [
  'yaml',
  '@bufbuild/cel',
  '@bufbuild/cel/ext',
  '@bufbuild/protobuf',
  '@bufbuild/protobuf/reflect',
  '@bufbuild/protobuf/wkt',
]
