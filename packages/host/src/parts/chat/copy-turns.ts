import { changesOf } from '../../catalog/change-tracking.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { AhpError } from '@atrium/protocol/errors'
import { Channel, kindOf, unloaded } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import type { StagedPart } from '../../kernel/log/options.ts'
import type { StoredRow } from '../../ports/log.ts'
import { Damaged } from '../../kernel/log/rebuild.ts'
import { sleepWhenIdle } from '../../channels/sleep.ts'
import { readTexts } from '../../kernel/log/rows.ts'
import { trusted } from '../../channels/wake.ts'

/**
 * Makes a chat with the first turns of another chat. The copy is written to the disk page by page, so that no
 * transaction is large. Its log has the usual form: the creation of an empty chat, then `chat/turnsLoaded` actions
 * from the newest page to the oldest, as a client would page back, then the turns themselves (the rows) from the
 * oldest to the newest, then the state after all that (the head). No client finds the channel before it is published,
 * and after a crash the next run of the host deletes it.
 */
export async function copyTurns(
  core: Core,
  source: Channel<'chat'>,
  turnId: string,
  first: ChatState,
): Promise<Channel<'chat'>> {
  const ids = source.rowIds.slice(0, source.rowIds.indexOf(turnId) + 1)
  const chat = new Channel<'chat'>(first.resource, kindOf('chat'), first)
  const copy = new TurnCopy(core, source, chat)
  core.log.staged.add(chat.uri)
  core.records.put(copyKey(chat.uri), '')
  try {
    await copy.write({ created: true })
    for await (const page of copy.pages(ids.toReversed())) {
      const turns = page.map(({ text }) => text).toReversed()
      await copy.write({ action: `{"type":"chat/turnsLoaded","turns":[${turns.join()}]}` })
    }
    for await (const page of copy.pages(ids))
      await copy.write({ rows: page.map((row) => ({ channel: chat.uri, ...row })) })
    await copy.write({ head: JSON.stringify({ ...first, turns: ids.length }) })
    await changesOf(core)?.copy(source.uri, chat.uri, ids)
    return await copy.load()
  } catch (error) {
    forgetCopy(core, chat.uri)
    throw error
  } finally {
    copy.end()
  }
}

/** Makes a copy visible to clients, in the transaction that adds the chat to its session. */
export function publishCopy(core: Core, chat: Channel<'chat'>): Channel<'chat'> {
  core.records.delete(copyKey(chat.uri))
  core.log.staged.publish(chat)
  changesOf(core)?.copyPublished(chat)
  sleepWhenIdle(core, chat)
  return chat
}

/** Deletes an unpublished copy. No client knows its URI, so the URI may be used again. */
export function forgetCopy(core: Core, uri: Uri): void {
  core.records.delete(copyKey(uri))
  changesOf(core)?.copyForgotten(uri)
  core.sealing.freed()
  core.log.drop(unloaded(uri, 'chat'))
}

/** Deletes the copies that an earlier run of the host left unpublished. */
export async function forgetCopies(core: Core): Promise<void> {
  for (const [key] of await core.records.list(prefix)) {
    const uri = key.slice(prefix.length)
    core.log.staged.add(uri)
    if (core.readOnlyReason() === undefined) forgetCopy(core, uri)
  }
}

/** A copy in progress. It fails if the turns of the source change before the copy is complete. */
class TurnCopy {
  readonly #core: Core
  readonly #source: Channel<'chat'>
  readonly #chat: Channel<'chat'>
  readonly #lastRowNeeded: number
  /**
   * A listener that only keeps the source in memory. If the source left memory, the copy would not notice a
   * truncation.
   */
  readonly #keepAwake = { deliver() {}, notify() {} }
  /** Number of characters written since the last wait for the log. */
  #unflushed = 0

  constructor(core: Core, source: Channel<'chat'>, chat: Channel<'chat'>) {
    this.#core = core
    this.#source = source
    this.#chat = chat
    this.#lastRowNeeded = source.lastRowNeeded
    source.listeners.add(this.#keepAwake)
  }

  /** Writes a part of the copy. Waits for the disk after each page of text, so that at most two pages are in memory. */
  async write(part: StagedPart): Promise<void> {
    const { log, limits } = this.#core
    const seq = log.staged.write(this.#chat, part)
    for (const { text = '' } of part.rows ?? []) this.#unflushed += text.length
    this.#unflushed += part.action?.length ?? 0
    if (this.#unflushed < limits.turnsPageLength) return
    await log.reached(seq)
    await log.space()
    this.#unflushed = 0
  }

  /** Reads the turns with these ids, in this order, in pages of about a MiB. */
  async *pages(ids: readonly string[]): AsyncGenerator<readonly StoredRow[]> {
    const { log, store, limits, readOnlyReason } = this.#core
    const { uri } = this.#source
    // The store reads flushed rows only.
    if (!(await log.settled()))
      throw AhpError.permissionDenied(readOnlyReason() ?? 'the host is shutting down')
    for (let at = 0; at < ids.length;) {
      const { texts, count } = await trusted(this.#core, () => readTexts(store.log, uri, ids.slice(at)))
      if (log.channel(uri) !== this.#source || this.#source.lastRowNeeded !== this.#lastRowNeeded)
        throw AhpError.conflict('the turns of the source chat have changed meanwhile: try again')
      const rows = ids.slice(at, at + count).flatMap((id) => rowOf(id, texts.get(id)))
      if (rows.length < count) await trusted(this.#core, () => Promise.reject(lost(uri)))
      at += count
      yield* inPages(rows, limits.turnsPageLength)
    }
  }

  async load(): Promise<Channel<'chat'>> {
    const { log } = this.#core
    await log.reached(log.last)
    const copy = await log.staged.load(this.#chat.uri)
    if (!copy?.is('chat')) throw new Error(`the staged copy ${this.#chat.uri} was not found`)
    return copy
  }

  end(): void {
    this.#source.listeners.delete(this.#keepAwake)
    sleepWhenIdle(this.#core, this.#source)
  }
}

function rowOf(id: string, text: string | undefined): readonly StoredRow[] {
  return text === undefined ? [] : [{ id, text }]
}

function lost(uri: Uri): Damaged {
  return new Damaged(`the stored history of ${uri} is damaged: some of its rows are missing`)
}

/**
 * Splits stored turns (rows) into pages. Usually there is one page. The store returns more turns than one page only
 * if it had to compute them from actions.
 */
function* inPages(rows: readonly StoredRow[], maxLength: number): Generator<readonly StoredRow[]> {
  let from = 0
  let length = 0
  for (const [at, { text }] of rows.entries()) {
    length += text.length
    if (length <= maxLength || at === from) continue
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
