// SPDX-License-Identifier: Apache-2.0
/**
 * Draws Mermaid diagrams as SVG, in Chromium. With the font of the site: the width of a label is
 * measured here, and a reader's browser does not measure it again.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import type { Mermaid, MermaidConfig } from 'mermaid'
import { launchChromium } from './chromium.ts'
import { diagramName, THEMES, type Theme } from './diagram.ts'
import { HERE } from './places.ts'

const MODULES = join(HERE, 'node_modules')
const FONT = join(MODULES, 'vitepress/dist/client/theme-default/fonts/inter-roman-latin.woff2')

/** As the theme of the site: its brand, its lines, its text. */
const COLOURS: Readonly<Record<Theme, MermaidConfig['themeVariables']>> = {
  light: {
    darkMode: false,
    background: '#ffffff',
    mainBkg: '#eef3fb',
    primaryColor: '#eef3fb',
    primaryBorderColor: '#5b7fb8',
    primaryTextColor: '#1f2733',
    lineColor: '#596579',
    textColor: '#1f2733',
    edgeLabelBackground: '#ffffff',
    labelBackgroundColor: '#ffffff',
  },
  dark: {
    darkMode: true,
    background: '#1b1b1f',
    mainBkg: '#26303f',
    primaryColor: '#26303f',
    primaryBorderColor: '#7f9fd1',
    primaryTextColor: '#e6e9ef',
    lineColor: '#a3aec0',
    textColor: '#e6e9ef',
    edgeLabelBackground: '#1b1b1f',
    labelBackgroundColor: '#1b1b1f',
  },
}

declare global {
  var mermaid: Mermaid
}

/** The layout that keeps lines and their labels apart. */
function layoutScript(): string {
  const contents = "import layouts from '@mermaid-js/layout-elk'; mermaid.registerLayoutLoaders(layouts)"
  const built = buildSync({ stdin: { contents, resolveDir: HERE }, bundle: true, format: 'iife', minify: true, write: false })
  return built.outputFiles[0]?.text ?? ''
}

/** The SVG of each diagram in each theme, by its name. */
export async function drawDiagrams(sources: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const drawn = new Map<string, string>()
  if (sources.length === 0) return drawn
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    await page.setContent('<!doctype html><title>diagrams</title><body></body>')
    await page.addScriptTag({ path: join(MODULES, 'mermaid/dist/mermaid.min.js') })
    await page.addScriptTag({ content: layoutScript() })
    await page.evaluate(async (font) => {
      const face = new FontFace('Inter', `url(data:font/woff2;base64,${font})`, { weight: '100 900' })
      document.fonts.add(await face.load())
    }, readFileSync(FONT).toString('base64'))
    for (const theme of THEMES) {
      for (const source of sources) {
        const name = diagramName(source, theme)
        drawn.set(name, await page.evaluate(drawHere, name, source, COLOURS[theme]))
      }
    }
  } finally {
    await browser.close()
  }
  return drawn
}

/** In the browser: nothing from outside but the arguments. */
async function drawHere(name: string, source: string, colours: MermaidConfig['themeVariables']): Promise<string> {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    layout: 'elk',
    // What comes first in the source stands first, and a way back is a line back.
    elk: { cycleBreakingStrategy: 'DEPTH_FIRST', considerModelOrder: 'NODES_AND_EDGES', nodePlacementStrategy: 'BRANDES_KOEPF' },
    theme: 'base',
    themeVariables: { ...colours, fontFamily: 'Inter, sans-serif', fontSize: '15px' },
    fontFamily: 'Inter, sans-serif',
    htmlLabels: false,
    flowchart: { htmlLabels: false, useMaxWidth: true, nodeSpacing: 30, rankSpacing: 30, padding: 8 },
    state: { useMaxWidth: true, nodeSpacing: 60, rankSpacing: 60 },
  })
  return (await mermaid.render(name, source)).svg
}
