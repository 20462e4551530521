import type { IncomingMessage, ServerResponse } from 'node:http'
import { enterAnswer, enterPaths } from './enter-routes.ts'
import type { EnterAnswer } from './enter-routes.ts'
import { entering } from './entering.ts'
import type { Entering } from './entering.ts'
import type { KnownDevices } from '../devices/pairing.ts'
import { PageFiles } from './page-files.ts'
import type { PageFile } from './page-files.ts'
import { pageHeaders } from './page-headers.ts'

export interface PageOptions {
  /** The folder with the built files. */
  readonly folder: string
}

interface Settings extends PageOptions {
  readonly devices: KnownDevices
  readonly secure: boolean
  readonly codeNeeded: boolean
  readonly now: () => number
}

/** What the gate knows about a request. */
export interface Asker {
  readonly path: string
  readonly trusted: boolean
  readonly ownOrigin: boolean
  /** Counts a refused attempt to enter. Returns for how many seconds the asker must wait; 0 while it may try again. */
  readonly refused: () => number
}

/** The web page of a host: its files, and the way to enter. */
export class Page {
  readonly entering: Entering
  readonly #files: PageFiles
  readonly #headers: { readonly [name: string]: string }

  constructor({ folder, devices, secure, codeNeeded, now }: Settings) {
    this.#files = new PageFiles(folder, now)
    this.#headers = pageHeaders(secure)
    this.entering = entering({ devices, codeNeeded, now })
  }

  /** Answers a request that the gate has let through. */
  async answer(request: IncomingMessage, response: ServerResponse, asker: Asker): Promise<void> {
    if (enterPaths.includes(asker.path)) return this.#enter(request, response, asker)
    const file = await this.#files.find(asker.path)
    if (!file) this.#say(response, 404, 'There is nothing at this address. The page of this host is at /.')
    else if (request.method !== 'GET' && request.method !== 'HEAD')
      this.#say(response, 405, 'This address can only be read.', { allow: 'GET, HEAD' })
    else this.#send(request, response, file)
  }

  /** Answers with a sentence. */
  #say(
    response: ServerResponse,
    status: number,
    sentence: string,
    more: { readonly [name: string]: string } = {},
  ): void {
    const text = `${sentence}\n`
    response
      .writeHead(status, {
        ...this.#headers,
        'content-type': 'text/plain; charset=utf-8',
        'content-length': Buffer.byteLength(text),
        'cache-control': 'no-store',
        // What is left of a refused request is not read.
        connection: 'close',
        ...more,
      })
      .end(text)
  }

  async #enter(request: IncomingMessage, response: ServerResponse, asker: Asker): Promise<void> {
    if (request.method !== 'POST')
      return this.#say(response, 405, 'This address takes a POST of JSON only.', { allow: 'POST' })
    const answer = await enterAnswer(this.entering, { request, ...asker })
    const seconds = answer.status === 403 ? asker.refused() : 0
    if (seconds > 0)
      this.#say(response, 429, 'There were too many failed attempts.', { 'retry-after': String(seconds) })
    else this.#sendJson(response, answer)
  }

  #sendJson(response: ServerResponse, { status, body }: EnterAnswer): void {
    const text = JSON.stringify(body)
    response
      .writeHead(status, {
        ...this.#headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        'cache-control': 'no-store',
        ...(status !== 200 && { connection: 'close' }),
      })
      .end(text)
  }

  #send({ method, headers }: IncomingMessage, response: ServerResponse, file: PageFile): void {
    const { type, etag, immutable } = file
    const packed = /\bgzip\b/.test(String(headers['accept-encoding'])) ? file.gzip : undefined
    const bytes = packed ?? file.bytes
    const known = headers['if-none-match']?.split(',').some((each) => each.trim() === etag)
    const common = {
      ...this.#headers,
      etag,
      vary: 'accept-encoding',
      'cache-control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    }
    if (known) return void response.writeHead(304, common).end()
    response.writeHead(200, {
      ...common,
      'content-type': type,
      'content-length': bytes.length,
      ...(packed && { 'content-encoding': 'gzip' }),
    })
    // Node sends no body in an answer to HEAD.
    response.end(method === 'HEAD' ? undefined : bytes)
  }
}
