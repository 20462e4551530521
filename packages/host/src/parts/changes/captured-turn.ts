import type { Uri } from '@atrium/protocol/channel'
import { compact } from '@atrium/protocol/update'
import { isIn } from '../access/roots.ts'
import { wereActive } from '../../ports/other-hosts.ts'
import type { Sighting } from '../../ports/other-hosts.ts'
import { attributed } from './attribution.ts'
import type { PeriodCall } from './attribution.ts'
import { bytesOf } from './capture-budget.ts'
import { pathWithin } from './directories.ts'
import type { Taking } from './taking.ts'
import type { TurnFolder, TurnRecord } from './turn-record.ts'

/** A call of a turn, with a label for users. */
export interface RunningCall {
  readonly id: string
  readonly label: string
}

/**
 * The captures of a running turn. Besides the first and the last one, a capture is taken whenever the turn's calls begin or
 * end, so that the host can tell what the calls changed from what others changed. Captures are taken one after the other.
 */
export class CapturedTurn {
  readonly turnId: string
  readonly #taking: Taking
  /** Stores the record of the turn. Does not wait until it is durable. */
  readonly #save: (record: TurnRecord) => void
  #folders: readonly TurnFolder[]
  /** The captures that were asked for until now. Undefined: none. */
  #queue: Promise<void> | undefined
  #bytes = 0
  /** The calls of this turn that run in the present period, with their labels. */
  #calls: ReadonlyMap<string, string> = new Map()
  /** The calls of the period that the last capture ends, until that capture begins. */
  #due: ReadonlyMap<string, string> | undefined
  /** By the id of a call: the only files that it changes. A call without an entry may change any file. */
  readonly #writes = new Map<string, readonly Uri[]>()
  /** Whether another turn, a worker, an operation or a terminal was active in the folders since the last capture. */
  #others = false
  /** The folders whose last capture failed, with the reason. */
  readonly #unsure = new Map<string, string>()
  /** The record that was stored last, and the record that `expect` has stored, as texts. */
  #stored = ''
  #expected: string | undefined
  /** The turns of other chats that are active in the folders now, with their chats, and the operations that change files. */
  readonly #present = new Map<object, Uri | undefined>()
  /** The chats whose turns were active in the folders during the present period. */
  #met = new Set<Uri>()
  /** What the marks of other hosts said about each directory before the last capture began. */
  #sighted: ReadonlyMap<string, Sighting> = new Map()
  /** Whether turns of other hosts may have changed files that are shared. */
  #besideHosts = false
  /** The chats whose turns may have changed files that are shared. */
  #beside: readonly Uri[] = []

  constructor(
    turnId: string,
    directories: readonly string[],
    taking: Taking,
    save: (record: TurnRecord) => void,
  ) {
    this.turnId = turnId
    this.#taking = taking
    this.#save = save
    this.#folders = directories.map((directory) => ({ directory, uncertain: [] }))
  }

  get record(): TurnRecord {
    const [folders, bytes, beside] = [this.#folders, this.#bytes, this.#beside]
    return {
      folders,
      ...(bytes > 0 && { bytes }),
      ...(beside.length > 0 && { beside }),
      ...(this.#besideHosts && { besideHosts: true as const }),
    }
  }

  /**
   * Why the turn cannot be undone: the problem of a folder. Undefined if no folder has a problem. A folder that is
   * never captured does not count.
   */
  get problem(): string | undefined {
    return this.#folders.find(({ problem, isRefused }) => problem !== undefined && !isRefused)?.problem
  }

  /** Whether the turn works in this folder, in one that contains it, or in one below it. */
  meets(directory: string): boolean {
    return this.#folders.some((each) => isIn(directory, each.directory) || isIn(each.directory, directory))
  }

  /** Resolves when all captures that were asked for until now are taken. */
  get looked(): Promise<void> {
    return this.#queue ?? Promise.resolve()
  }

  /** The directories of the turn. */
  get directories(): readonly string[] {
    return this.#folders.map(({ directory }) => directory)
  }

  /**
   * Stores a preliminary record before the start capture is taken. It assumes that no file has changed since the last
   * capture of each folder. The start capture may show that this is wrong. Stores nothing if a folder has no last
   * capture.
   */
  expect(last: (directory: string) => string | undefined): void {
    const folders = this.#folders.map(({ directory }) => {
      const id = last(directory)
      return id === undefined ? undefined : { directory, uncertain: [], start: id, last: id }
    })
    const known = folders.filter((folder) => folder !== undefined)
    if (known.length < folders.length) return
    this.#store({ folders: known })
    this.#expected = this.#stored
  }

  /** Whether the record that `expect` has stored is still the stored record: no file had changed. */
  get isAsExpected(): boolean {
    return this.#stored === this.#expected
  }

  /**
   * Takes the start capture. A turn that is resumed already has one (`earlier`): what has changed since its last
   * capture then counts as changed by others.
   */
  begin(earlier: TurnRecord | undefined): Promise<void> {
    this.#bytes = earlier?.bytes ?? 0
    this.#beside = earlier?.beside ?? []
    this.#besideHosts = earlier?.besideHosts ?? false
    const known = new Map(earlier?.folders.map((folder) => [folder.directory, folder]))
    this.#folders = this.#folders.map(({ directory }) => {
      const { end, ...folder } = known.get(directory) ?? { directory, uncertain: [] }
      return compact<TurnFolder>({ ...folder, last: end ?? folder.last })
    })
    return this.#look()
  }

  /**
   * Notes the calls of the turn that run from now on. Takes a capture if they are others than before. Resolves when they may
   * change files.
   */
  callsRun(calls: readonly RunningCall[]): Promise<void> {
    const now = new Map(calls.map(({ id, label }) => [id, label]))
    const ended = [...this.#calls.keys()].filter((id) => !now.has(id))
    const isSame = ended.length === 0 && now.size === this.#calls.size
    // A capture that has not begun is also the one of calls that begin now, and of those that ran before it was asked for.
    const isDue = ended.every((id) => this.#due?.has(id)) && this.#due !== undefined
    const looked = isSame || isDue ? this.looked : this.#look()
    this.#calls = now
    return looked
  }

  /** Notes that a call changes these files and no others. */
  writesOnly(toolCallId: string, files: readonly Uri[]): void {
    this.#writes.set(toolCallId, [...(this.#writes.get(toolCallId) ?? []), ...files])
  }

  /** Takes the end capture. */
  async end(): Promise<TurnRecord> {
    await this.#look()
    this.#folders = this.#folders.map(({ last, ...folder }) => {
      const problem = folder.problem ?? this.#unsure.get(folder.directory)
      return compact<TurnFolder>({ ...folder, problem, end: problem === undefined ? last : undefined })
    })
    return this.record
  }

  /** Notes that the turn of another chat, or an operation, is active in the folders of the turn from now on. */
  joined(other: object, chat?: Uri): void {
    this.#present.set(other, chat)
    if (chat !== undefined) this.#met.add(chat)
    this.#others = true
  }

  left(other: object): void {
    this.#present.delete(other)
  }

  /** Notes that somebody else may just have changed files. */
  disturbed(): void {
    this.#others = true
  }

  /** Captures the folders. This ends the present period, which is the time since the last capture. */
  #look(): Promise<void> {
    const calls = this.#calls
    this.#due = calls
    const look = async () => {
      if (this.#due === calls) this.#due = undefined
      const [others, met] = [this.#others, this.#met]
      this.#others = this.#present.size > 0
      this.#met = new Set([...this.#present.values()].filter((uri) => uri !== undefined))
      const sighted = this.#sighted
      this.#sighted = this.#lookForHosts()
      let wereHosts = false
      // Others may become active while the files are read. They then count in this period and in the next one.
      const wereOthers = (directory: string) => {
        const [last, now] = [sighted.get(directory), this.#taking.otherHosts?.look(directory)]
        const isBesideHost = last !== undefined && now !== undefined && wereActive(last, now)
        wereHosts ||= isBesideHost
        return others || this.#others || isBesideHost
      }
      const before = this.#folders
      this.#folders = await Promise.all(before.map((folder) => this.#lookAt(folder, calls, wereOthers)))
      if (this.#folders.some(({ shared }, at) => shared !== before[at]?.shared)) {
        this.#beside = [...new Set([...this.#beside, ...met, ...this.#met])].slice(0, mostBeside)
        this.#besideHosts ||= wereHosts
      }
      this.#store(this.record)
    }
    const begin = () => this.#taking.hold(look)
    // The first capture begins at once: the disk is asked before the step that starts the turn is handed to the store.
    this.#queue = this.#queue ? this.#queue.then(begin) : begin()
    return this.#queue
  }

  #store(record: TurnRecord): void {
    const text = JSON.stringify(record)
    if (text === this.#stored) return
    this.#stored = text
    this.#save(record)
  }

  async #lookAt(
    folder: TurnFolder,
    calls: ReadonlyMap<string, string>,
    wereOthers: (directory: string) => boolean,
  ): Promise<TurnFolder> {
    const { directory, last, start } = folder
    if (folder.problem !== undefined) return folder
    const looked = await this.#taking.take(directory, last)
    if ('problem' in looked) {
      // The capture failed, so the period goes on until the next capture. Calls may have run only in a part of it, so
      // its changes count as changes by others.
      if (start !== undefined) this.#unsure.set(directory, looked.problem)
      const { problem, isRefused } = looked
      return start === undefined ? { directory, problem, ...(isRefused && { isRefused }) } : folder
    }
    const { id, changes } = looked
    this.#bytes += bytesOf(changes)
    const ran = this.#unsure.delete(directory) ? [] : this.#callsIn(directory, calls)
    const period = { calls: ran, others: wereOthers(directory), changes }
    const now = attributed(folder, period, this.#taking.mostShared)
    return compact<TurnFolder>({ ...folder, ...now, start: start ?? id, last: id })
  }

  #lookForHosts(): ReadonlyMap<string, Sighting> {
    const { otherHosts } = this.#taking
    return new Map(otherHosts && this.directories.map((each) => [each, otherHosts.look(each)] as const))
  }

  #callsIn(directory: string, calls: ReadonlyMap<string, string>): readonly PeriodCall[] {
    return [...calls].map(([id, label]) => {
      const files = this.#writes.get(id)
      const paths = files?.map((uri) => pathWithin(directory, uri)).filter((path) => path !== undefined)
      return { label, writes: paths && new Set(paths) }
    })
  }
}

/** The number of chats that a record names. */
const mostBeside = 8
