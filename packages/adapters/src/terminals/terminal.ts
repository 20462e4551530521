import { StringDecoder } from 'node:string_decoder'
import type { Shell, TerminalOutput } from '@atrium/host/ports/terminals'
import type { LimitValues } from '@atrium/protocol/limits'
import { Commands } from './command-marks.ts'
import type { Emulator, Size } from './emulator.ts'
import { Fact } from './throttled-value.ts'
import type { Piece, Trust } from './output-part.ts'
import { Screen } from './query-replies.ts'
import { endSession } from '../process/process-group.ts'
import { Stream } from './sanitize.ts'
import type { Heard, Tty } from './pty.ts'

export interface Opening {
  /** Begins the program: what it writes is heard from then on. */
  readonly begin: (heard: Heard) => Tty
  readonly say: (said: TerminalOutput) => void
  readonly size: Size
  /** The URI of the directory it begins in. */
  readonly cwd: string
  readonly trust: Pick<Trust, 'nonce' | 'hostname'>
  readonly emulator: Emulator
  readonly limits: LimitValues
  /** The shell has shown its first prompt. */
  readonly ready: () => void
  /** Nothing of it runs any more. */
  readonly over: () => void
}

/** One shell or command: what its program writes becomes what the terminal says, a turn of the event loop at a time. */
export class Terminal implements Shell {
  readonly #opening: Opening
  readonly #tty: Tty
  readonly #decoder = new StringDecoder('utf8')
  readonly #stream: Stream
  readonly #screen: Screen
  readonly #commands: Commands
  readonly #title: Fact
  readonly #cwd: Fact
  readonly #gone: Promise<void>
  #resolveGone: () => void = () => undefined
  #heard: Buffer[] = []
  #exitCode: number | undefined
  #swept: Promise<void> | undefined
  #paused = false
  #heardBytes = 0
  #turned = -Infinity
  #turning: 'soon' | 'later' | undefined
  #later: NodeJS.Timeout | undefined

  constructor(opening: Opening) {
    const { begin, say, size, cwd, trust, emulator, limits } = opening
    this.#opening = opening
    this.#stream = new Stream({ ...trust, titleLength: limits.terminalTitle }, limits.terminalSequence)
    this.#screen = new Screen(emulator, size, limits, (reply) => this.#tty.write(reply))
    this.#commands = new Commands(say, limits)
    this.#title = new Fact((title) => say({ type: 'terminal/titleChanged', title }), limits.terminalFactMs)
    this.#cwd = new Fact((uri) => say({ type: 'terminal/cwdChanged', cwd: uri }), limits.terminalFactMs, cwd)
    this.#gone = new Promise((resolve) => (this.#resolveGone = resolve))
    this.#tty = begin({
      bytes: (bytes) => {
        this.#heard.push(bytes)
        this.#heardBytes += bytes.length
        this.#soon()
      },
      left: () => void this.#sweep().then(() => this.#tty.close()),
      gone: (exitCode) => {
        this.#exitCode = exitCode
        this.#soon()
      },
    })
  }

  get pid(): number {
    return this.#tty.pid
  }

  input(data: string): void {
    this.#tty.write(data)
  }

  resize(cols: number, rows: number): void {
    const size = sizeWithin({ cols, rows }, this.#opening.limits.terminalSide)
    this.#tty.resize(size.cols, size.rows)
    this.#screen.resize(size.cols, size.rows)
  }

  pause(): void {
    this.#paused = true
    this.#tty.pause()
  }

  resume(): void {
    this.#paused = false
    this.#tty.resume()
    this.#soon()
  }

  /** What was written until then is still said. */
  async end(): Promise<void> {
    this.resume()
    if (process.platform === 'win32') this.#tty.kill('SIGHUP')
    await this.#sweep()
    // Whoever has left the session may hold the pty for ever.
    this.#tty.close()
    await this.#gone
    await this.#swept
  }

  /** Once: its number may be another's later. */
  #sweep(): Promise<void> {
    this.#swept ??= endSession(this.pid, this.#opening.limits.terminalGraceMs).then(this.#opening.over)
    return this.#swept
  }

  /**
   * What comes in one turn of the event loop is said at its end. The next is said some milliseconds later, unless it is as
   * much as an action takes: a flood comes in small pieces, and each action costs everyone who watches.
   */
  #soon(): void {
    const much = this.#heardBytes >= this.#opening.limits.terminalData
    const early = !much && performance.now() - this.#turned < restMs
    if (this.#turning === 'soon' || (early && this.#turning)) return
    clearTimeout(this.#later)
    this.#turning = early ? 'later' : 'soon'
    const turn = () => {
      this.#turning = undefined
      if (!this.#paused) this.#turn()
    }
    if (early) this.#later = setTimeout(turn, restMs)
    else setImmediate(turn)
  }

  #turn(): void {
    const heard = this.#heard
    this.#heard = []
    this.#heardBytes = 0
    this.#turned = performance.now()
    if (heard.length > 0)
      this.#show(this.#decoder.write(heard.length === 1 && heard[0] ? heard[0] : Buffer.concat(heard)))
    if (this.#exitCode !== undefined) this.#exited(this.#exitCode)
  }

  #show(text: string): void {
    for (const piece of this.#stream.push(text)) this.#piece(piece)
  }

  #piece(piece: Piece): void {
    if ('data' in piece) {
      this.#screen.show(piece.data)
      for (const data of cuts(piece.data, this.#opening.limits.terminalData))
        this.#opening.say({ type: 'terminal/data', data })
    } else if ('query' in piece) this.#screen.ask(piece.query)
    else if ('title' in piece) this.#title.set(piece.title)
    else if ('cwd' in piece) this.#cwd.set(piece.cwd)
    else {
      const { detected } = this.#commands
      this.#commands.mark(piece.mark)
      if (!detected && this.#commands.detected) this.#opening.ready()
    }
  }

  #exited(exitCode: number): void {
    if (this.#over) return
    this.#over = true
    this.#show(this.#decoder.end())
    this.#title.end()
    this.#cwd.end()
    this.#commands.finish(exitCode)
    this.#screen.end()
    this.#opening.say({ type: 'terminal/exited', exitCode })
    this.#opening.ready()
    // Jobs that do not hold the pty are ended too.
    void this.#sweep()
    this.#resolveGone()
  }

  #over = false
}

const restMs = 4

export function sizeWithin({ cols, rows }: Size, most: number): Size {
  const side = (wished: number) => Math.min(Math.max(Math.trunc(wished) || 1, 1), most)
  return { cols: side(cols), rows: side(rows) }
}

/** In pieces that are not too long, and none of them ends in the midst of a character. */
function* cuts(text: string, most: number): Iterable<string> {
  for (let at = 0; at < text.length;) {
    let to = Math.min(at + most, text.length)
    if (to < text.length && /[\ud800-\udbff]/.test(text.charAt(to - 1))) to--
    yield at === 0 && to === text.length ? text : text.slice(at, to)
    at = to
  }
}
