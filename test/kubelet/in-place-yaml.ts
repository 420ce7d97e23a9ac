// SPDX-License-Identifier: Apache-2.0
/** Parses YAML in the process of the test, without the limits: the texts of tests are short. */
import { parseDocuments, parseLocated, parseUncommon } from '../../src/kubelet/yaml.ts'
import type { YamlReader } from '../../src/kubelet/yaml-document.ts'

export const IN_PLACE: YamlReader = {
  first: async (text) => parseLocated(text),
  firstOfAny: async (text) => parseUncommon(text),
  all: async (text) => parseDocuments(text),
}
