import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { frameProblem } from '@atrium/protocol/rpc/frame-check'
import { LineProcess } from '../process/line-process.ts'
import type { ProcessOptions } from '../process/line-process.ts'
import type { Watchdog } from '../process/watchdog.ts'
import type { Library } from './library.ts'

/**
 * The transport of a server that is a program: one message on each line. The process starts with the transport. It is
 * started like an agent, so that everything that it starts ends with it and with the host.
 */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /**
   * The library looks for the members `stderr` and `pid`. If a transport has them, the library takes a silent server
   * for a legacy server.
   */
  readonly stderr = null
  /** The reason as a clause, if the process has ended by itself. */
  exitReason: string | undefined
  readonly #options: ProcessOptions
  readonly #watchdog: Watchdog
  readonly #parse: Library['deserializeMessage']
  #process: LineProcess | undefined
  #isClosing = false

  constructor(options: ProcessOptions, watchdog: Watchdog, { deserializeMessage }: Library) {
    this.#options = options
    this.#watchdog = watchdog
    this.#parse = deserializeMessage
  }

  /** Null if there is no process, or if the program could not be started. */
  get pid(): number | null {
    return this.#process?.pid ?? null
  }

  get lastDiagnostics(): readonly string[] {
    return this.#process?.lastDiagnostics ?? []
  }

  start(): Promise<void> {
    const { lines, ended } = (this.#process = new LineProcess(this.#options, this.#watchdog))
    lines.receive((line) => this.#receive(line))
    void ended.then((reason) => {
      if (!this.#isClosing) this.exitReason = reason
      this.onclose?.()
    })
    return Promise.resolve()
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#process?.lines.send(JSON.stringify(message))
    return Promise.resolve()
  }

  /** Resolves when neither the process nor anything that it started is left. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#process?.end()
  }

  #receive(line: string): void {
    const size = this.#options.maxLineLength
    const problem = frameProblem(line, { size, depth: maxDepth, keys: maxKeys })
    if (problem !== undefined)
      return this.#process?.lines.close(undefined, `it sent an invalid message: ${problem}`)
    let message: JSONRPCMessage
    try {
      message = this.#parse(line)
    } catch {
      return this.onerror?.(new Error('it sent a line that is no message'))
    }
    this.onmessage?.(message)
    // The library handles a progress notification later. If the result of the call were read in the meantime, the
    // library would no longer know the call, and drop the progress. So reading pauses for a moment.
    if ('method' in message && message.method === 'notifications/progress') this.#rest()
  }

  #rest(): void {
    const { lines } = this.#process ?? {}
    lines?.pause()
    setImmediate(() => lines?.resume())
  }
}

const maxDepth = 128
const maxKeys = 1_000_000
