import type { ChangeTracking } from '@atrium/host/changes'
import type { Uri } from '@atrium/protocol/channel'
import type { Disk } from '../disk.ts'
import { count } from '../tally.ts'
import { wordsIn, wordsOf } from './edits.ts'
import type { Words } from './edits.ts'
import { directory } from './folder.ts'
import type { FolderObserver, SimulatedFolder } from './folder.ts'
import { captureRecord } from './turn-records.ts'
import type { CaptureRecord } from './turn-records.ts'

/** An operation that a client has invoked on the changeset of a turn. */
interface Operation {
  readonly chat: Uri
  readonly turnId: string
  readonly operationId: string
}

/** The parts of the simulation that the judge uses. */
interface Context {
  readonly disk: Disk
  readonly folder: SimulatedFolder
  readonly words: Words
  readonly fail: (invariant: string, problem: string) => void
}

/**
 * Judges every file that the host changes for an operation. A word that the turn has not written must still be in some file
 * afterwards, and everything that the host replaces must be in a safety capture that a durable record names.
 */
export class UndoJudge implements FolderObserver {
  readonly #context: () => Context
  /** The operations that have not ended, in the order in which the host carries them out. */
  #operations: Operation[] = []
  /** The operation that changes files now, or did when the host died. */
  #current: Operation | undefined
  /** What the record of its turn said when the first file was about to change. The turn may be truncated meanwhile. */
  #recorded: CaptureRecord['folders'][number] | undefined
  /** The words of the files that this operation has replaced or deleted. */
  readonly #replaced = new Set<string>()

  constructor(context: () => Context) {
    this.#context = context
  }

  /** Learns of the operations that clients invoke in a host run. */
  watch(changes: ChangeTracking): void {
    const invoke = changes.invoke.bind(changes)
    changes.invoke = (params) => {
      const operation = operationOf(params.channel, params.operationId)
      this.#operations.push(operation)
      const done = invoke(params)
      const end = () => void (this.#operations = this.#operations.filter((each) => each !== operation))
      done.then(end, end)
      return done
    }
  }

  crashed(): void {
    this.#operations = []
  }

  /** Somebody else than the host has removed these words. */
  removed(words: ReadonlySet<string>): void {
    for (const word of words) this.#replaced.delete(word)
  }

  applying(): void {
    const { disk } = this.#context()
    const [current] = this.#operations
    const { folders = [] } = (current && captureRecord(disk, current, disk.durable)) ?? {}
    this.#current = current
    this.#recorded = folders.find((each) => each.directory === directory)
  }

  writes(path: string, text: string | undefined): void {
    const { folder, fail } = this.#context()
    const operation = this.#current
    if (!operation) return fail('O37', `the host changes ${path}, although nobody asked for it`)
    count(`files changed by ${operation.operationId}`)
    if (text === undefined) return
    for (const word of wordsIn(text)) this.#replaced.add(word)
    if (folder.captured(this.#recorded?.safety ?? '')?.get(path) !== text)
      fail('O37', `${named(operation)} replaces ${path}, which is in no recorded safety capture`)
  }

  applied(): void {
    const { folder, fail } = this.#context()
    const operation = this.#current
    this.#current = undefined
    const left = wordsOf(folder.texts)
    const lost = [...this.#replaced].filter((word) => !left.has(word))
    this.#replaced.clear()
    if (!operation) return
    const foreign = lost.find((word) => !this.#mayRemove(operation, word))
    if (foreign !== undefined) fail('O37', `${named(operation)} has removed ${foreign}, which others wrote`)
  }

  #mayRemove(operation: Operation, word: string): boolean {
    const { folder, words } = this.#context()
    if (operation.operationId === 'undo-anyway' || words.isBy(word, operation.turnId)) return true
    if (operation.operationId !== 'redo') return false
    // A redo removes once more what the turn itself had removed.
    const { start = '', end = '' } = this.#recorded ?? {}
    const [before, after] = [folder.captured(start), folder.captured(end)]
    return (
      before !== undefined && after !== undefined && wordsOf(before).has(word) && !wordsOf(after).has(word)
    )
  }
}

function operationOf(channel: Uri, operationId: string): Operation {
  const [chat = '', turnId = ''] = channel.split('/changeset/turn/')
  return { chat, turnId: decodeURIComponent(turnId), operationId }
}

function named({ operationId, turnId, chat }: Operation): string {
  return `${operationId} of ${turnId} in ${chat}`
}
