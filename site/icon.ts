// SPDX-License-Identifier: Apache-2.0
/** The picture beside the name of the site and in the browser's tab: a way back, and a tick. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke-linecap="round" stroke-linejoin="round">
<rect width="32" height="32" rx="7" fill="#2f5fa8"/>
<path d="M8.2 19.5A8.5 8.5 0 1 0 9 11" stroke="#fff" stroke-width="2.6"/>
<path d="M8.4 5.8 8.8 11.4 14.2 10.6" stroke="#fff" stroke-width="2.6"/>
<path d="M12.6 16.4 15.3 19.1 20.2 13.8" stroke="#bfe3c6" stroke-width="2.6"/>
</svg>
`
