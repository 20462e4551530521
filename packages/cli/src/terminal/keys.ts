import { StringDecoder } from 'node:string_decoder'

/** A key that was pressed: `text` for what is typed or pasted, else what the key is called. */
export interface Key {
  readonly name: 'text' | 'paste' | Named
  readonly text?: string
}

export type Named = (typeof named)[keyof typeof named] | 'unknown'

const named = {
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

/** Keys out of what a terminal sends, in whatever pieces it comes. */
export class KeyReader {
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''

  read(chunk: Buffer | string): readonly Key[] {
    this.#rest += typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)
    const keys: Key[] = []
    for (let key = this.#next(); key; key = this.#next()) keys.push(key)
    return keys
  }

  /** Whether more may come that belongs to what is there: an escape key looks like the beginning of an arrow. */
  get waits(): boolean {
    return this.#rest !== ''
  }

  /** Nothing more came: what is there is what was meant. */
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
    const name = new Map<string, Named>(Object.entries(named)).get(sequence)
    if (name) return { name }
    // oxlint-disable-next-line no-control-regex
    return /^[\u0000-\u001f]/.test(sequence) ? { name: 'unknown' } : { name: 'text', text: sequence }
  }
}

/** One whole escape sequence, or Alt with a key. */
// oxlint-disable-next-line no-control-regex
const escapes = /^\u001b(\[[0-?]*[ -/]*[@-~]|O[ -~]|[^[O])/

/** These end a process before anybody could put its terminal in order. */
const ends = ['SIGTERM', 'SIGHUP'] as const

/** A terminal's keyboard, key by key, from `open` to `close`. */
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
    // Says where a paste begins and ends, so that no line of it is taken for a command.
    this.#write('\u001b[?2004h')
    this.#input.on('data', this.#heard).resume()
    process.on('exit', this.#restore)
    for (const signal of ends) process.on(signal, this.#end)
  }

  close(): void {
    if (!this.#isOpen) return
    this.#restore()
    this.#isOpen = false
    clearTimeout(this.#timer)
    this.#input.off('data', this.#heard).pause()
    process.off('exit', this.#restore)
    for (const signal of ends) process.off(signal, this.#end)
  }

  /** To the shell and back: the terminal is as it was meanwhile. */
  suspend(back: () => void): void {
    this.close()
    process.once('SIGCONT', () => {
      this.open()
      back()
    })
    // All that the shell started with one line, as the terminal itself would.
    process.kill(0, 'SIGTSTP')
  }

  readonly #heard = (chunk: Buffer | string): void => {
    clearTimeout(this.#timer)
    this.#tell(this.#reader.read(chunk))
    if (this.#reader.waits) this.#timer = setTimeout(() => this.#tell(this.#reader.flush()), 50)
  }

  #tell(keys: readonly Key[]): void {
    for (const key of keys) if (this.#isOpen) this.#pressed(key)
  }

  readonly #end = (signal: NodeJS.Signals): void => process.exit(signal === 'SIGHUP' ? 129 : 143)

  /** Whatever happens to this process, the shell behind it is usable. */
  readonly #restore = (): void => {
    this.#write('\u001b[?2004l')
    this.#input.setRawMode(false)
  }
}
