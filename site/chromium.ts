// SPDX-License-Identifier: Apache-2.0
/** Chromium of the machine, which draws the diagrams and looks at the built site. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, launch } from 'puppeteer-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

export function launchChromium(): Promise<Browser> {
  const places = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)))
  const executablePath = places.find(isExecutable)
  if (executablePath === undefined) throw new Error('there is no Chromium in the PATH: apt-get install --no-install-recommends chromium')
  // Chromium refuses to run as root with its sandbox. All that it shows here is our own.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return launch({ executablePath, args: [...asRoot, '--disable-dev-shm-usage', '--disable-gpu', '--force-prefers-reduced-motion'] })
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
