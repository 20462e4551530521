import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { limits } from '@atrium/protocol/limits'
import type { AcpServer } from '../process/mcp-servers.ts'
import { bodyOf, digest, forward, refusalOf } from './http.ts'
import { ToolEndpoint } from './endpoint.ts'

/**
 * An MCP server of the host, by which ACP agents call the tools of a session's clients and the tools for comments. It
 * listens on a random port of the loopback interface, from the first endpoint on. Each chat has an endpoint with a
 * path and a token of its own.
 */
export class ToolServer {
  /**
   * The beginning of all tokens. The host removes tokens from the agent's output, and recognizes them by this text.
   */
  readonly secret = randomBytes(24).toString('base64url')
  readonly #version: string
  readonly #endpoints = new Map<string, ToolEndpoint>()
  #listening: Promise<Server> | undefined

  constructor(version: string) {
    this.#version = version
  }

  /**
   * Returns the endpoint with this key, and the MCP server that the agent gets for it in `session/new`. Both stay the
   * same until `forget`.
   */
  async endpoint(
    key: string,
    name: string,
  ): Promise<{ readonly endpoint: ToolEndpoint; readonly server: AcpServer }> {
    const port = portOf(await (this.#listening ??= this.#listen()))
    const known = this.#endpoints.get(key)
    const endpoint = known ?? new ToolEndpoint(`${this.secret}.${random()}`, random(), this.#version)
    this.#endpoints.set(key, endpoint)
    const headers = [{ name: 'Authorization', value: `Bearer ${endpoint.token}` }]
    const url = `http://127.0.0.1:${port}/mcp/${endpoint.id}`
    return { endpoint, server: { type: 'http', name, url, headers } }
  }

  /** Closes the endpoints whose keys begin with `prefix`. */
  forget(prefix: string): void {
    for (const [key, endpoint] of this.#endpoints) {
      if (!key.startsWith(prefix)) continue
      this.#endpoints.delete(key)
      endpoint.close()
    }
  }

  async close(): Promise<void> {
    this.forget('')
    const server = await this.#listening?.catch(() => undefined)
    this.#listening = undefined
    server?.closeAllConnections()
    if (server?.listening) await new Promise((resolve) => server.close(resolve))
  }

  async #listen(): Promise<Server> {
    const server = createServer((request, response) => {
      this.#serve(request, response, portOf(server)).catch(() => response.destroy())
    })
    // The server does not keep the host running.
    server.unref()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return server
  }

  async #serve(request: IncomingMessage, response: ServerResponse, port: number): Promise<void> {
    const id = /^\/mcp\/([\w-]+)$/.exec(request.url ?? '')?.[1]
    const endpoint = [...this.#endpoints.values()].find((each) => each.id === id)
    // An unknown path is refused like a wrong token, so that nobody learns which paths there are.
    const refusal = refusalOf(request, port, endpoint ? digest(endpoint.token) : digest(random()))
    if (refusal) return void response.writeHead(refusal.status).end(refusal.reason)
    const body = await bodyOf(request, limits.messageBytes)
    if (!body) return void response.writeHead(413).end('the request is too long')
    await forward({ request, body, port }, (each) => endpoint?.fetch(each), response)
  }
}

function random(): string {
  return randomBytes(24).toString('base64url')
}

function portOf(server: Server): number {
  // A server that listens on a port has an address of this type.
  return (server.address() as AddressInfo | null)?.port ?? 0
}
