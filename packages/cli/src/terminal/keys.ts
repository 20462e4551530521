import { StringDecoder } from 'node:string_decoder'

/** A key press. `text` is set for typed characters, a paste, and the sequence of a mouse. */
export interface Key {
  readonly name: 'text' | 'paste' | 'mouse' | KeyName
  readonly text?: string
}

export type KeyName = (typeof sequences)[keyof typeof sequences] | 'unknown'

/** The character or escape sequence that a terminal sends for each key. */
const sequences = {
  '\r': 'enter',
  '\n': 'enter',
  '\u001b\r': 'alt-enter',
  '\u001b\n': 'alt-enter',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u001b': 'escape',
  '\u001b[A': 'up',
  '\u001bOA': 'up',
  '\u001b[B': 'down',
  '\u001bOB': 'down',
  '\u001b[C': 'right',
  '\u001bOC': 'right',
  '\u001b[D': 'left',
  '\u001bOD': 'left',
  '\u001b[H': 'home',
  '\u001bOH': 'home',
  '\u001b[1~': 'home',
  '\u0001': 'home',
  '\u001b[F': 'end',
  '\u001bOF': 'end',
  '\u001b[4~': 'end',
  '\u0005': 'end',
  '\u001b[3~': 'delete',
  '\u001b[5~': 'page-up',
  '\u001b[6~': 'page-down',
  '\u001b[Z': 'shift-tab',
  '\u0003': 'ctrl-c',
  '\u0004': 'ctrl-d',
  '\u000b': 'ctrl-k',
  '\u000c': 'ctrl-l',
  '\u0015': 'ctrl-u',
  '\u0017': 'ctrl-w',
  '\u001a': 'ctrl-z',
} as const

const pasteBegins = '\u001b[200~'
const pasteEnds = '\u001b[201~'

/** Decodes the bytes of a terminal into keys. The bytes may arrive in chunks of any size. */
export class KeyReader {
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''

  read(chunk: Buffer | string): readonly Key[] {
    this.#rest += typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)
    const keys: Key[] = []
    for (let key = this.#next(); key; key = this.#next()) keys.push(key)
    return keys
  }

  /**
   * Whether an incomplete sequence is buffered. It may be the Escape key alone: that looks like the start of an arrow
   * key.
   */
  get incomplete(): boolean {
    return this.#rest !== ''
  }

  /** Decodes the buffered rest as it is, because no more bytes came in time. An unfinished paste stays buffered. */
  flush(): readonly Key[] {
    if (this.#rest.startsWith(pasteBegins)) return []
    const keys: Key[] = this.#rest === '' ? [] : [{ name: this.#rest === '\u001b' ? 'escape' : 'unknown' }]
    this.#rest = ''
    return keys
  }

  #next(): Key | undefined {
    const rest = this.#rest
    if (rest === '') return undefined
    if (rest.startsWith(pasteBegins)) {
      const end = rest.indexOf(pasteEnds)
      if (end < 0) return undefined
      this.#rest = rest.slice(end + pasteEnds.length)
      return { name: 'paste', text: rest.slice(pasteBegins.length, end).replaceAll(/\r\n?/g, '\n') }
    }
    const [first = ''] = rest
    const sequence = first === '\u001b' ? escapes.exec(rest)?.[0] : first
    if (sequence === undefined) return undefined
    this.#rest = rest.slice(sequence.length)
    const name = new Map<string, KeyName>(Object.entries(sequences)).get(sequence)
    if (name) return { name }
    if (mouse.test(sequence)) return { name: 'mouse', text: sequence }
    // oxlint-disable-next-line no-control-regex
    return /^[\u0000-\u001f]/.test(sequence) ? { name: 'unknown' } : { name: 'text', text: sequence }
  }
}

/** One complete escape sequence, or Alt with a key. */
// oxlint-disable-next-line no-control-regex
const escapes = /^\u001b(\[[0-?]*[ -/]*[@-~]|O[ -~]|[^[O])/

/** An event of the mouse: the button, the column and the row. */
// oxlint-disable-next-line no-control-regex
const mouse = /^\u001b\[<\d+;\d+;\d+[Mm]$/

/** Signals that would end the process before the terminal is restored. */
const fatalSignals = ['SIGTERM', 'SIGHUP'] as const

/** The keyboard of a terminal in raw mode, from `open` to `close`. */
export class Keyboard {
  readonly #input: NodeJS.ReadStream
  readonly #write: (text: string) => void
  readonly #pressed: (key: Key) => void
  #reader = new KeyReader()
  #timer: NodeJS.Timeout | undefined
  #isOpen = false

  constructor(input: NodeJS.ReadStream, write: (text: string) => void, pressed: (key: Key) => void) {
    this.#input = input
    this.#write = write
    this.#pressed = pressed
  }

  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#reader = new KeyReader()
    this.#input.setRawMode(true)
    // Bracketed paste: the terminal marks both ends of a paste, so that no line of it is taken for a command.
    this.#write('\u001b[?2004h')
    this.#input.on('data', this.#received).resume()
    process.on('exit', this.#restore)
    for (const signal of fatalSignals) process.on(signal, this.#end)
  }

  close(): void {
    if (!this.#isOpen) return
    this.#restore()
    this.#isOpen = false
    clearTimeout(this.#timer)
    this.#input.off('data', this.#received).pause()
    process.off('exit', this.#restore)
    for (const signal of fatalSignals) process.off(signal, this.#end)
  }

  /** Stops the process like Ctrl-Z, with the terminal restored. Calls `resumed` when the shell continues it. */
  suspend(resumed: () => void): void {
    this.close()
    process.once('SIGCONT', () => {
      this.open()
      resumed()
    })
    // Process id 0 stands for the whole process group: Ctrl-Z at a terminal stops the whole group, too.
    process.kill(0, 'SIGTSTP')
  }

  readonly #received = (chunk: Buffer | string): void => {
    clearTimeout(this.#timer)
    this.#emit(this.#reader.read(chunk))
    if (this.#reader.incomplete) this.#timer = setTimeout(() => this.#emit(this.#reader.flush()), 50)
  }

  #emit(keys: readonly Key[]): void {
    for (const key of keys) if (this.#isOpen) this.#pressed(key)
  }

  readonly #end = (signal: NodeJS.Signals): void => process.exit(signal === 'SIGHUP' ? 129 : 143)

  /** Leaves raw mode, also when the process exits, so that the shell stays usable. */
  readonly #restore = (): void => {
    this.#write('\u001b[?2004l')
    this.#input.setRawMode(false)
  }
}
