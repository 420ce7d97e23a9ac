/** The floor of memory and of idle CPU: a Node.js that is there and does nothing. */
setInterval(() => {}, 10_000)
