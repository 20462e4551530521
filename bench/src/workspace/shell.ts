import type { Child } from '../child.ts'
import { initialize } from '../messages.ts'
import { Wire, masked } from '../wire.ts'

let made = 0

/** A client of a shell, which runs either on the host or on a bare pty. */
export class Shell {
  readonly wire: Wire
  readonly #type: (data: string) => void

  private constructor(wire: Wire, type: (data: string) => void) {
    this.wire = wire
    this.#type = type
  }

  static async ofHost({ port }: Child): Promise<Shell> {
    const clientId = `terminal-client-${made++}`
    const channel = `ahp-terminal:/${clientId}`
    const wire = await initialize(await Wire.open(port), clientId)
    await wire.ask('createTerminal', { channel, claim: { kind: 'client', clientId } })
    await wire.ask('subscribe', { channel })
    let clientSeq = 0
    const type = (data: string) => {
      const params = { channel, clientSeq: ++clientSeq, action: { type: 'terminal/input', data } }
      wire.send({ jsonrpc: '2.0', method: 'dispatchAction', params })
    }
    return new Shell(wire, type)
  }

  static async bare({ port }: Child): Promise<Shell> {
    const wire = await Wire.open(port)
    return new Shell(wire, (data) => wire.write(masked(data)))
  }

  type(data: string): void {
    this.#type(data)
  }

  /**
   * Types a line and waits for a message that contains the text `last`. Returns the milliseconds from the line to the
   * last output before that message.
   */
  async timed(data: string, last: string): Promise<number> {
    const wanted = Buffer.from(last)
    const start = performance.now()
    let end = start
    let over = false
    this.wire.onFrame = (frames, from, to) => {
      const frame = frames.subarray(from, to)
      if (frame.includes(wanted)) over = true
      else if (!over && !frame.includes(ownInput)) end = performance.now()
    }
    this.type(data)
    await this.wire.until(() => over)
    this.wire.onFrame = undefined
    return end - start
  }

  /** Types a key. Returns the milliseconds until its echo arrives. */
  async echoed(key: string): Promise<number> {
    const wanted = [`"data":${JSON.stringify(key)}`, key].map((text) => Buffer.from(text))
    const start = performance.now()
    let over = false
    this.wire.onFrame = (frames, from, to) => {
      const frame = frames.subarray(from, to)
      const shown = frame.includes('terminal/data') || frame[0] !== openBrace
      if (shown && wanted.some((text) => frame.includes(text))) over = true
    }
    this.type(key)
    await this.wire.until(() => over)
    this.wire.onFrame = undefined
    return performance.now() - start
  }

  close(): void {
    this.wire.close()
  }
}

/** Marks the echo of the client's own `terminal/input` action, which is not output of the shell. */
const ownInput = Buffer.from('terminal/input')
const openBrace = '{'.charCodeAt(0)
