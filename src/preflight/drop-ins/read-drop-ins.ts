/**
 * Reads the drop-ins as kubelet does. Rules: `loadDropinConfigFileIntoJSON`,
 * cmd/kubelet/app/server.go (1.32 to 1.37). Kubelet does not start if the directory is missing, or
 * if one of these files cannot be read, is empty, is no KubeletConfiguration, or has a key twice
 * (kubernetes issue 124796; `strict decoding error`, seen on 1.34.1). Pure; files and the YAML
 * parser are passed in.
 */
import { posix } from 'node:path'
import { listDropInFiles } from '../../kubelet/drop-in-files.ts'
import { formatPath } from '../../kubelet/field-path.ts'
import { isFieldName } from '../../kubelet/fields.ts'
import type { YamlReader } from '../../kubelet/yaml-document.ts'
import type { Files } from '../../ports/files.ts'
import { errorMessage } from '../../values/errors.ts'
import { readDocument } from '../read-document.ts'
import type { DropIn, DropInsReading, UnusableDropIn } from './drop-ins.ts'
import { listOtherCase } from './other-case.ts'

export type DropInFiles = Pick<Files, 'read' | 'list' | 'stat'>

/** @param isRead whether this file is read; kubelet reads all of them */
export async function readDropIns(
  directory: string,
  files: DropInFiles,
  yaml: YamlReader,
  isRead: (path: string) => boolean = () => true,
): Promise<DropInsReading> {
  const dropIns: DropIn[] = []
  try {
    for (const path of listDropInFiles(directory, files).filter(isRead)) {
      const read = await readDropIn(path, files, yaml)
      if ('detail' in read) return { kind: 'unusable', ...read }
      dropIns.push(read)
    }
  } catch (error) {
    return { kind: 'unusable', path: posix.resolve('/', directory), detail: errorMessage(error) }
  }
  return { kind: 'read', dropIns }
}

async function readDropIn(path: string, files: DropInFiles, yaml: YamlReader): Promise<DropIn | UnusableDropIn> {
  const unusable = (detail: string, unjudged?: true): UnusableDropIn => ({ path, detail, unjudged })
  try {
    const text = files.read(path)?.toString()
    // A link to nothing.
    if (text === undefined) return unusable('it does not exist')
    const read = await readDocument(text, yaml)
    if (!read.ok) return unusable(read.detail, read.unjudged)
    const { config, repeated } = read.document
    const [first] = repeated
    if (first !== undefined) return unusable(`${formatPath(first.path)} is there twice`)
    // Kubelet ignores fields that it does not know.
    const fields = Object.entries(config).filter(([name]) => isFieldName(name))
    const otherCase = listOtherCase(config)
    return { path, config: Object.fromEntries(fields), ...(otherCase.length === 0 ? {} : { otherCase }) }
  } catch (error) {
    return unusable(errorMessage(error))
  }
}
