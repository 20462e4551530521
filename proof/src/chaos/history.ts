import { appendFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Envelope, Uri } from '@atrium/protocol/channel'

/** What a client saw and did, a line each: frames as they were, and when a link began and ended. */
export interface Line {
  /** Milliseconds on a clock that only goes forward, the same for all clients of a run. */
  readonly at: number
  /** Counts the links of a client. */
  readonly link: number
  /** `gone`: the client gave up on a channel, named in `text`. */
  readonly way: 'open' | 'out' | 'in' | 'shut' | 'gone'
  readonly text?: string
}

export interface History {
  readonly client: string
  readonly lines: readonly Line[]
}

/** A channel as the store has it after the last life. */
export interface StoredChannel {
  readonly uri: Uri
  readonly kind: string
  /** What it is rebuilt to: its head, and what came after. */
  readonly state: unknown
  readonly envelopes: readonly Envelope[]
  /** How it was born, where no head stands before it. */
  readonly birth?: { readonly seq: number; readonly state: unknown }
}

/** What is on the disk at the end. */
export interface Stored {
  readonly channels: readonly StoredChannel[]
  /** Set aside, each with the reason. */
  readonly damaged: readonly { readonly uri: Uri; readonly why: string }[]
  /** The session list. */
  readonly sessions: readonly Uri[]
  /** In the last life every turn came to its end. */
  readonly rested?: true
  /** When the disk itself was last made to lose something: what was seen before may be gone, what came after not. */
  readonly torn?: number
}

/** Everything that is judged: it lies in a folder, and can be judged again when the judge has learned more. */
export interface Run {
  readonly name: string
  readonly histories: readonly History[]
  readonly stored: Stored
}

/** Writes a client's history while it happens, so that it survives whatever happens to us. */
export class Recorder {
  readonly #path: string
  #waiting: string[] = []

  constructor(folder: string, client: string) {
    mkdirSync(folder, { recursive: true })
    this.#path = join(folder, `${client}.jsonl`)
  }

  write(link: number, way: Line['way'], text?: string): void {
    const at = performance.now()
    this.#waiting.push(JSON.stringify({ at, link, way, text }))
    if (this.#waiting.length > 100) this.flush()
  }

  flush(): void {
    if (this.#waiting.length > 0) appendFileSync(this.#path, `${this.#waiting.join('\n')}\n`)
    this.#waiting = []
  }
}

export function writeStored(folder: string, stored: Stored): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, storedName), JSON.stringify(stored, null, 1))
}

export function readRun(folder: string): Run {
  const histories = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => ({ client: name.slice(0, -'.jsonl'.length), lines: linesOf(join(folder, name)) }))
  const stored = JSON.parse(readFileSync(join(folder, storedName), 'utf8')) as Stored
  return { name: folder, histories, stored }
}

/** Folders below this one, itself included, that hold a run. */
export function runsBelow(folder: string): readonly string[] {
  const entries = readdirSync(folder, { withFileTypes: true })
  const here = entries.some(({ name }) => name === storedName) ? [folder] : []
  return [...here, ...entries.flatMap((one) => (one.isDirectory() ? runsBelow(join(folder, one.name)) : []))]
}

const storedName = 'stored.json'

function linesOf(path: string): readonly Line[] {
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Line)
}
