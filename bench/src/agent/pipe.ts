import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const agentFile = fileURLToPath(new URL('./acp-child.js', import.meta.url))

/** The agent at a bare pipe: a reader that parses each line and drops it. */
export class Pipe {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, () => void>()
  #rest = ''
  #last = 0
  #first: (() => void) | undefined

  constructor() {
    this.#child = spawn(process.execPath, [agentFile], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#take(text))
  }

  /** Resolves when the agent is initialized and has a session. */
  async open(): Promise<void> {
    await this.#ask('initialize', { protocolVersion: 1 })
    await this.#ask('session/new', { cwd: '/', mcpServers: [] })
  }

  /** Sends a prompt. Resolves with the milliseconds until the first text and until the end of the answer. */
  async prompt(words: number): Promise<{ readonly first: number; readonly all: number }> {
    const began = performance.now()
    let first = 0
    this.#first = () => (first = performance.now() - began)
    await this.#ask('session/prompt', { sessionId: 's1', prompt: [{ type: 'text', text: String(words) }] })
    return { first, all: performance.now() - began }
  }

  close(): void {
    this.#child.kill()
  }

  #ask(method: string, params: object): Promise<void> {
    const id = ++this.#last
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) {
      const { id } = JSON.parse(line) as { readonly id?: number }
      if (id !== undefined) this.#waiting.get(id)?.()
      else if (this.#first) {
        this.#first()
        this.#first = undefined
      }
    }
  }
}
