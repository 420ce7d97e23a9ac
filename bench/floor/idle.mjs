// SPDX-License-Identifier: Apache-2.0
/** The floor for memory and idle CPU: a Node.js that does nothing. */
setInterval(() => {}, 10_000)
