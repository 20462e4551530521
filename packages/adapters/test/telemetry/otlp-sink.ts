import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Sunk {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly payload: object
}

/** A collector that keeps what it gets. `answers`: the statuses of its first answers, and their headers; then it takes everything. */
export async function otlpSink(
  ...answers: readonly { readonly status: number; readonly headers?: object }[]
) {
  const got: Sunk[] = []
  const left = [...answers]
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      got.push({
        path: request.url ?? '',
        headers: request.headers,
        payload: text ? (JSON.parse(text) as object) : {},
      })
      const { status, headers = {} } = left.shift() ?? { status: 200 }
      response.writeHead(status, { ...headers }).end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  onTestFinished(close)
  // A server that listens on an address has an address: hence the cast.
  const { port } = server.address() as AddressInfo
  return { got, url: `http://127.0.0.1:${port}`, close }
}
