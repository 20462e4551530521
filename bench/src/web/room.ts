import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { connect } from '@atrium/client'
import type { Client } from '@atrium/client'
import { chromium } from 'playwright-core'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { WebSocket } from 'ws'
import { serve } from '../serve.ts'
import type { ServeProcess } from '../serve.ts'

/** The Chromium of this machine, by `ATRIUM_CHROMIUM` or on the PATH. Undefined if there is none. */
export function chromiumProgram(): string | undefined {
  const given = process.env['ATRIUM_CHROMIUM']
  if (given !== undefined) return given || undefined
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const names = ['chromium', 'chromium-browser', 'google-chrome']
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((file) => existsSync(file))
}

/** A host, a browser, and a client beside it that fills sessions. */
export class Room {
  readonly filler: Client
  readonly #folder: string
  readonly #host: ServeProcess
  readonly #browser: Browser

  private constructor(folder: string, host: ServeProcess, browser: Browser) {
    this.#folder = folder
    this.#host = host
    this.#browser = browser
    // The cast leaves the forms of the class out that only servers and other events need.
    this.filler = connect({ url: host.url, token: host.token, WebSocket: WebSocket as never })
  }

  static async open(program: string): Promise<Room> {
    const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'))
    const host = await serve(join(folder, 'data'), { ATRIUM_PORT: '0', HOME: folder })
    // Chromium refuses to run as root with its sandbox. Other users need no flag.
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    const browser = await chromium.launch({ executablePath: program, args })
    return new Room(folder, host, browser)
  }

  get address(): string {
    return this.#host.url.replace(/^ws/, 'http')
  }

  /** Opens the web page of the host, logged in by a code. Returns the page with its debugger. */
  async page(): Promise<{ readonly page: Page; readonly debug: CDPSession }> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.setDefaultTimeout(600_000)
    const page = await context.newPage()
    await page.goto(`${this.address}#code=${await this.#code()}`)
    await page.getByText('Live', { exact: true }).first().waitFor()
    return { page, debug: await context.newCDPSession(page) }
  }

  async close(): Promise<void> {
    this.filler.close()
    await this.#browser.close()
    this.#host.child.kill('SIGKILL')
    await this.#host.exit
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #code(): Promise<string> {
    const headers = {
      authorization: `Bearer ${this.#host.token}`,
      'content-type': 'application/json',
      'x-atrium': 'enter',
    }
    const url = new URL('/enter/code', this.address)
    const response = await fetch(url, { method: 'POST', headers, body: '{}' })
    const { code } = (await response.json()) as { readonly code: string }
    return code
  }
}

/** The fragment of the page's URL that opens a session. */
export function placeOf(session: string): string {
  return `#/session/${encodeURIComponent(session.replace('ahp-session:/', ''))}`
}
