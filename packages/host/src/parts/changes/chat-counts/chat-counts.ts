import { catalogOf } from '../../../catalog/catalog.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { ChangesSummary } from '@atrium/protocol/common/content'
import { wakeIfSound } from '../../../channels/wake.ts'
import type { Core } from '../../../kernel/core.ts'
import { entryOf, sessionOf } from '../../../catalog/lookup.ts'
import type { Channel } from '../../../kernel/log/channel.ts'
import { equal } from '../../../kernel/log/equal.ts'
import type { CapturedChange, Captures } from '../../../ports/captures.ts'
import { directoriesOf } from '../directories.ts'
import type { Taking } from '../taking.ts'
import { sessionStart } from '../turn-records.ts'
import type { TurnRecords } from '../turn-records.ts'

/**
 * Counts what has changed in the folders of chats since the first turn of each chat, and puts the counts into the
 * entries of the chats. The captures of the last turn or operation are compared; no capture is taken for this.
 */
export class ChatCounts {
  readonly #core: () => Core
  readonly #captures: Captures
  readonly #taking: Taking
  readonly #records: TurnRecords

  constructor(core: () => Core, captures: Captures, taking: Taking, records: TurnRecords) {
    this.#core = core
    this.#captures = captures
    this.#taking = taking
    this.#records = records
  }

  /**
   * Counts for a chat whose turn has ended, and for the default chat, whose folders usually have the changes of the
   * other chats, too.
   */
  async turnEnded(chat: Uri): Promise<void> {
    const session = sessionOf(this.#core(), chat)
    await this.#countEach(new Set([chat, session?.head.defaultChat ?? chat]))
  }

  /** Counts again for the chats of a session that have counts, because an operation may have changed their files. */
  async operationEnded(session: Channel<'session'>): Promise<void> {
    const { chats } = session.head
    await this.#countEach(chats.filter(({ changes }) => changes).map(({ resource }) => resource))
  }

  async #countEach(chats: Iterable<Uri>): Promise<void> {
    for (const uri of chats) {
      const chat = await wakeIfSound(this.#core(), uri)
      const counts = chat?.is('chat') ? await this.#taking.hold(() => this.#count(chat)) : undefined
      if (counts) this.#publish(uri, counts)
    }
  }

  /** Undefined if the files at the beginning or now are not captured. Then the counts stay as they are. */
  async #count(chat: Channel<'chat'>): Promise<ChangesSummary | undefined> {
    const first = chat.rowIds.at(0) ?? chat.head.activeTurn?.id
    const session = catalogOf(this.#core()).sessionOf(chat.uri)
    if (first === undefined || session === undefined) return undefined
    const [own, ofSession] = await Promise.all([
      this.#records.get(chat.uri, first),
      this.#records.get(session, sessionStart),
    ])
    const starts = [...(own?.folders ?? []), ...(ofSession?.folders ?? [])]
    const changes: CapturedChange[] = []
    for (const directory of directoriesOf(this.#core(), chat)) {
      const start = starts.find(
        (folder) => folder.directory === directory && folder.start !== undefined,
      )?.start
      const last = this.#taking.latest(directory)
      if (start === undefined || last === undefined) return undefined
      if (start !== last) changes.push(...(await this.#captures.compare(start, last)))
    }
    return countsOf(changes)
  }

  #publish(uri: Uri, changes: ChangesSummary): void {
    const core = this.#core()
    const session = sessionOf(core, uri)
    const entry = session && entryOf(session, uri)
    if (!session || !entry || core.jobs.stopping || core.readOnlyReason() !== undefined) return
    if (equal(entry.changes ?? nothing, changes)) return
    core.log.append(session, { type: 'session/chatUpdated', chat: uri, changes: { changes } })
  }
}

const nothing: ChangesSummary = { additions: 0, deletions: 0, files: 0 }

function countsOf(changes: readonly CapturedChange[]): ChangesSummary {
  return {
    additions: changes.reduce((sum, { added = 0 }) => sum + added, 0),
    deletions: changes.reduce((sum, { removed = 0 }) => sum + removed, 0),
    files: changes.length,
  }
}
