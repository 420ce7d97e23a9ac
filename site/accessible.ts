// SPDX-License-Identifier: Apache-2.0
/**
 * Corrects what VitePress' default theme gets wrong for readers with a screen reader or a keyboard,
 * in the source of its components. Fails where a component no longer says what is corrected here.
 */
import type { Plugin } from 'vite'

interface Correction {
  readonly file: string
  readonly wrong: RegExp
  readonly right: string
}

const CORRECTIONS: readonly Correction[] = [
  // The button is named by the words on it. The key is shown by the style sheet instead.
  { file: 'VPNavBarSearchButton.vue', wrong: /<kbd class="DocSearch-Button-Key">K<\/kbd>/, right: '' },
  // A group that does not close is no button.
  {
    file: 'VPSidebarItem.vue',
    wrong: /isLink\.value \? undefined : 'button'/,
    right: "collapsible.value && !isLink.value ? 'button' : undefined",
  },
  { file: 'VPSidebarItem.vue', wrong: /:tabindex="item\.items && 0"/, right: ':tabindex="collapsible ? 0 : undefined"' },
  // The box with the search is no button: there are buttons and a list in it.
  {
    file: 'VPLocalSearchBox.vue',
    wrong: /role="button"\s+:aria-owns="[^"]*"\s+aria-expanded="true"\s+aria-haspopup="listbox"/,
    right: 'role="dialog" aria-modal="true"',
  },
  // What is chosen from the list is the link, by the words on it. A `#` before them is none.
  {
    file: 'VPLocalSearchBox.vue',
    wrong: /:id="'localsearch-item-' \+ index"\s+:aria-selected="selectedIndex === index \? 'true' : 'false'"\s+role="option"/,
    right: 'role="presentation"',
  },
  {
    file: 'VPLocalSearchBox.vue',
    wrong: /:aria-label="\[\.\.\.p\.titles, p\.title\]\.join\(' > '\)"/,
    right: `role="option" :id="'localsearch-item-' + index" :aria-selected="selectedIndex === index ? 'true' : 'false'"`,
  },
  { file: 'VPLocalSearchBox.vue', wrong: /<span class="title-icon">/, right: '<span class="title-icon" aria-hidden="true">' },
  // A key by itself may have no name.
  { file: 'VPLocalSearchBox.vue', wrong: /<kbd :aria-label=/g, right: '<kbd role="img" :aria-label=' },
]

export function accessible(): Plugin {
  return {
    name: 'accessible',
    enforce: 'pre',
    transform(code, id) {
      const corrections = CORRECTIONS.filter(({ file }) => id.endsWith(`/${file}`))
      return corrections.reduce((text, { file, wrong, right }) => {
        if (text.search(wrong) < 0) this.error(`${file} has changed: see site/accessible.ts`)
        return text.replace(wrong, right)
      }, code)
    },
  }
}
