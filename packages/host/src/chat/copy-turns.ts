import type { Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { AhpError } from '@atrium/protocol/errors'
import { Channel, kindOf, unloaded } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import type { StagedPart } from '../log/options.ts'
import type { StoredRow } from '../ports/log.ts'
import { Damaged } from '../log/rebuild.ts'
import { sleepWhenIdle } from '../channels/sleep.ts'
import { readTexts } from '../log/rows.ts'
import { trusted } from '../channels/wake.ts'

/**
 * Makes a chat that has the first turns of another from its beginning on. That happens on the disk and a page at a time,
 * so that no step is large, however many they are. Its log is like any other: it is born empty, and turns are loaded as by
 * whoever reads back, the newest first. Then come their rows, the oldest first, and a head. Nobody finds the chat before it
 * is shown, and where the host dies first it never was.
 */
export async function copyTurns(
  core: Core,
  source: Channel<'chat'>,
  turnId: string,
  first: ChatState,
): Promise<Channel<'chat'>> {
  const ids = source.rowIds.slice(0, source.rowIds.indexOf(turnId) + 1)
  const chat = new Channel<'chat'>(first.resource, kindOf('chat'), first)
  const copying = new Copying(core, source, chat)
  core.log.staged.add(chat.uri)
  core.records.put(copyKey(chat.uri), '')
  try {
    await copying.lay({ created: true })
    for await (const page of copying.pages(ids.toReversed())) {
      const turns = page.map(({ text }) => text).toReversed()
      await copying.lay({ action: `{"type":"chat/turnsLoaded","turns":[${turns.join()}]}` })
    }
    for await (const page of copying.pages(ids))
      await copying.lay({ rows: page.map((row) => ({ channel: chat.uri, ...row })) })
    await copying.lay({ head: JSON.stringify({ ...first, turns: ids.length }) })
    return await copying.made()
  } catch (error) {
    forgetCopy(core, chat.uri)
    throw error
  } finally {
    copying.end()
  }
}

/** Part of the step in which everyone learns of it. */
export function publishCopy(core: Core, chat: Channel<'chat'>): Channel<'chat'> {
  core.records.delete(copyKey(chat.uri))
  core.log.staged.publish(chat)
  sleepWhenIdle(core, chat)
  return chat
}

/** Nobody has heard of it: once it is gone its name is free again. */
export function forgetCopy(core: Core, uri: Uri): void {
  core.records.delete(copyKey(uri))
  core.log.drop(unloaded(uri, 'chat'))
}

/** What the life before left half made is found by nobody, and goes. */
export async function forgetCopies(core: Core): Promise<void> {
  for (const [key] of await core.records.list(prefix)) {
    const uri = key.slice(prefix.length)
    core.log.staged.add(uri)
    if (core.readOnlyReason() === undefined) forgetCopy(core, uri)
  }
}

/** Turns on their way from one chat into another. They are those of the moment in which that began, or none arrive. */
class Copying {
  readonly #core: Core
  readonly #source: Channel<'chat'>
  readonly #chat: Channel<'chat'>
  readonly #needed: number
  /** The source must not fall asleep: then nobody would know whether it was cut meanwhile. */
  readonly #keeper = { deliver() {}, notify() {} }
  /** So much is on its way to the disk. */
  #length = 0

  constructor(core: Core, source: Channel<'chat'>, chat: Channel<'chat'>) {
    this.#core = core
    this.#source = source
    this.#chat = chat
    this.#needed = source.lastRowNeeded
    source.listeners.add(this.#keeper)
  }

  /** About a page is under way, and no more than two. */
  async lay(piece: StagedPart): Promise<void> {
    const { log, limits } = this.#core
    const seq = log.staged.write(this.#chat, piece)
    for (const { text = '' } of piece.rows ?? []) this.#length += text.length
    this.#length += piece.action?.length ?? 0
    if (this.#length < limits.turnsPageLength) return
    await log.reached(seq)
    await log.space()
    this.#length = 0
  }

  /** In the order of these ids, about a MiB at a time. */
  async *pages(ids: readonly string[]): AsyncGenerator<readonly StoredRow[]> {
    const { log, store, limits, readOnlyReason } = this.#core
    const { uri } = this.#source
    // What is not flushed is not found.
    if (!(await log.settled())) throw AhpError.permissionDenied(readOnlyReason() ?? 'the host is going away')
    for (let at = 0; at < ids.length;) {
      const { texts, count } = await trusted(this.#core, () => readTexts(store.log, uri, ids.slice(at)))
      if (log.channel(uri) !== this.#source || this.#source.lastRowNeeded !== this.#needed)
        throw AhpError.conflict('the turns of that chat have changed meanwhile')
      const rows = ids.slice(at, at + count).flatMap((id) => rowOf(id, texts.get(id)))
      if (rows.length < count) await trusted(this.#core, () => Promise.reject(lost(uri)))
      at += count
      yield* inPages(rows, limits.turnsPageLength)
    }
  }

  async made(): Promise<Channel<'chat'>> {
    const { log } = this.#core
    await log.reached(log.last)
    const made = await log.staged.load(this.#chat.uri)
    if (!made?.is('chat')) throw new Error(`${this.#chat.uri} was made and is not there`)
    return made
  }

  end(): void {
    this.#source.listeners.delete(this.#keeper)
    sleepWhenIdle(this.#core, this.#source)
  }
}

function rowOf(id: string, text: string | undefined): readonly StoredRow[] {
  return text === undefined ? [] : [{ id, text }]
}

function lost(uri: Uri): Damaged {
  return new Damaged(`the stored history of ${uri} is damaged: some of its rows are missing`)
}

/** Nearly always one: the store gives no more at once, unless it had to fold them. */
function* inPages(rows: readonly StoredRow[], longest: number): Generator<readonly StoredRow[]> {
  let from = 0
  let length = 0
  for (const [at, { text }] of rows.entries()) {
    length += text.length
    if (length <= longest || at === from) continue
    yield rows.slice(from, at)
    from = at
    length = text.length
  }
  if (from < rows.length) yield rows.slice(from)
}

const prefix = 'copy/'

function copyKey(uri: Uri): string {
  return `${prefix}${uri}`
}
