/** A disk for commands that must change nothing: it rejects each change, like a read-only mount. */
import type { FileFacts } from '../ports/files.ts'
import { codedError } from '../values/errors.ts'
import type { Disk } from './disk.ts'

export class ReadOnlyDisk implements Disk {
  readonly owner = 'nobody'
  readonly #disk: Disk

  constructor(disk: Disk) {
    this.#disk = disk
  }

  read(path: string): Buffer {
    return this.#disk.read(path)
  }

  list(path: string): string[] {
    return this.#disk.list(path)
  }

  stat(path: string, links?: 'follow'): FileFacts | undefined {
    return this.#disk.stat(path, links)
  }

  makeDirectory(): void {
    refuse()
  }

  write(): void {
    refuse()
  }

  append(): void {
    refuse()
  }

  rename(): void {
    refuse()
  }

  unlink(): void {
    refuse()
  }

  removeTree(): void {
    refuse()
  }

  syncDirectory(): void {
    refuse()
  }
}

function refuse(): never {
  throw codedError('EROFS', 'EROFS: this command only reads')
}
