// SPDX-License-Identifier: Apache-2.0
/** A question over a connection that is kept: its server may have ended since the last one. */
import { get, type RequestOptions } from 'node:https'

/** Throws if the answer is not a success. `optionsOf` is called for each try. */
export function getText(url: string, optionsOf: () => RequestOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, optionsOf(), (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part) => {
        text += part
      })
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text)
        else reject(new Error(`${url} answers ${response.statusCode}: ${text}`))
      })
      response.on('error', reject)
    })
    request.on('timeout', () => request.destroy(new Error(`${url} does not answer`)))
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The server has closed it, which this side had not noticed.
      if (request.reusedSocket && error.code === 'ECONNRESET') resolve(getText(url, optionsOf))
      else reject(error)
    })
  })
}
