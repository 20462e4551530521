import { appendFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Envelope, Uri } from '@atrium/protocol/channel'

/** One line of a client's history: a frame as it was, the begin or end of a link, or a dropped channel. */
export interface Line {
  /** Milliseconds on a monotonic clock, the same for all clients of a run. */
  readonly at: number
  /** The number of the link, counted per client. */
  readonly link: number
  /** `gone`: the client dropped a channel, named in `text`. */
  readonly way: 'open' | 'out' | 'in' | 'shut' | 'gone'
  readonly text?: string
}

export interface History {
  readonly client: string
  readonly lines: readonly Line[]
}

/** A channel as the store has it after the last host run. */
export interface StoredChannel {
  readonly uri: Uri
  readonly kind: string
  /** The state rebuilt from the last stored state of the channel (its head) and the envelopes after it. */
  readonly state: unknown
  readonly envelopes: readonly Envelope[]
  /** The state at creation; absent if the store has replaced it by a later state. */
  readonly birth?: { readonly seq: number; readonly state: unknown }
}

/** The content of the disk at the end. */
export interface Stored {
  readonly channels: readonly StoredChannel[]
  /** Channels that the store has set aside as damaged, each with the reason. */
  readonly damaged: readonly { readonly uri: Uri; readonly why: string }[]
  /** The session list. */
  readonly sessions: readonly Uri[]
  /** Set if the last host run went on until every turn had ended. */
  readonly rested?: true
  /**
   * The last time the disk was made to lose data, on the clock of `Line.at`. What clients saw before may be lost. What
   * they saw later must not be lost.
   */
  readonly torn?: number
}

/** Everything that the judge needs. A run is kept in a folder, so that an improved judge can judge it again. */
export interface Run {
  readonly name: string
  readonly histories: readonly History[]
  readonly stored: Stored
}

/** Writes a client's history while it happens, so that it survives a crash of this process. */
export class Recorder {
  readonly #path: string
  #waiting: string[] = []

  constructor(folder: string, client: string, extension = '.jsonl') {
    mkdirSync(folder, { recursive: true })
    this.#path = join(folder, `${client}${extension}`)
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

/** Returns the folders at or below this one that hold a run. */
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
