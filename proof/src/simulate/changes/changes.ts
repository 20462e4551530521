import { changesOf } from '@atrium/host/changes'
import type { Core } from '@atrium/host/core'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { Chance } from '../../chance.ts'
import type { RunContext } from '../checks/context.ts'
import type { ModelEntry } from '../checks/reference-model.ts'
import { callsOf } from '../tool-calls.ts'
import { count } from '../tally.ts'
import type { Workplace } from './agent-edits.ts'
import { Words } from './edits.ts'
import { SimulatedFolder, directory } from './folder.ts'
import { SecondHost } from './second-host.ts'
import { captureRecord, isResume, owedCaptures } from './turn-records.ts'
import { UndoJudge } from './undo-judge.ts'

/** An action on annotations whose sender knows that it was accepted. */
export interface Acknowledged {
  readonly channel: Uri
  readonly seq: number
  readonly text: string
}

/** A hunk that a client has marked as reviewed, and whose mark the host has confirmed. */
export interface Mark {
  readonly channel: Uri
  readonly file: Uri
  readonly hash: string
}

/** What happens to files in a run of the theme `changes`, and what the judge must remember of it. */
export class SimulatedChanges {
  readonly folder: SimulatedFolder
  readonly words: Words
  readonly judge: UndoJudge
  readonly secondHost: SecondHost
  readonly acknowledged: Acknowledged[] = []
  readonly marks: Mark[] = []
  /** The turns whose end captures were missing when a host died, with the number of transactions that were left. */
  readonly late = new Map<string, number>()
  /** The turns that were active when a host died. Their end captures come late, unless an agent goes on with the turn. */
  readonly interrupted = new Set<string>()
  readonly #context: RunContext
  /** The files that calls have named, by turn and call. */
  readonly #named = new Map<string, Map<string, readonly string[]>>()
  #core: Core | undefined

  constructor(context: RunContext, name: () => number) {
    this.#context = context
    this.judge = new UndoJudge(() => ({
      disk: context.disk,
      folder: this.folder,
      words: this.words,
      fail: (invariant, problem) => context.fail(invariant, problem),
    }))
    this.folder = new SimulatedFolder(this.judge)
    this.words = new Words(this.folder, name, (words) => this.judge.removed(words))
    // The first host can tell what the second one writes from what its own calls write, even if they name the file.
    this.secondHost = new SecondHost((chance) => this.words.edit({ callers: () => [] }, chance))
  }

  /** What the agents of a host run need in order to change files. */
  get workplace(): Workplace {
    return {
      ready: (chat) => this.#core?.parts.get(changesOf)?.ready(chat),
      begins: (chat, turnId) => this.begins(chat, turnId),
      edit: (turnId, chance, among) => {
        count('edits by agents')
        // The model may not know yet that a call has ended. What a call writes into files that it has named, it writes while it runs.
        // A host that stops waits only so long for its agents.
        const isCall = among !== undefined && this.#running.some((call) => call.turnId === turnId)
        if (isCall && this.#core?.jobs.stopping === false && !this.secondHost.seesTurns)
          this.#context.fail('O60', `a call of ${turnId} changes files, and another host cannot see it`)
        this.words.edit({ turnId, callers: this.#callers(), ...(among && { among }) }, chance)
      },
      names: (turnId, toolCallId, named) => {
        const calls = this.#named.get(turnId) ?? new Map<string, readonly string[]>()
        this.#named.set(turnId, calls.set(toolCallId, named))
      },
    }
  }

  started(core: Core): void {
    this.#core = core
    const changes = changesOf(core)
    if (changes) this.judge.watch(changes)
  }

  /** A person changes files. With `isTold`, the host learns at once that somebody else was active in the folder. */
  person(chance: Chance, isTold = false): void {
    count('edits by people')
    if (this.#running.length > 0) count('edits by people during calls')
    this.words.edit({ callers: isTold ? () => [] : this.#callers() }, chance)
  }

  /** The host has died, and the disk and the model are what is left. */
  crashed(left: number): void {
    this.#core = undefined
    this.folder.crashed()
    this.secondHost.seesTurns = false
    this.judge.crashed()
    for (const [turnId, at] of this.late) if (at > left) this.late.delete(turnId)
    for (const [, { activeTurn }] of this.#context.invariants.chats())
      if (activeTurn) this.interrupted.add(activeTurn.id)
    for (const turn of owedCaptures(this.#context.disk)) {
      if (!captureRecord(this.#context.disk, turn)) continue
      count('end captures owed at a crash')
      this.late.set(turn.turnId, left)
    }
  }

  /**
   * Whether the last end of a turn was before a crash that prevented its end capture. Undefined if the turn was resumed
   * since, and no agent has begun: the host may have taken another capture, or none.
   */
  isLate({ chat, turnId }: { readonly chat: Uri; readonly turnId: string }): boolean | undefined {
    const crashedAt = this.late.get(turnId)
    if (crashedAt === undefined) return false
    const entries = this.#context.model.channels.get(chat)?.entries ?? []
    const resumed = ({ action, at = 0 }: ModelEntry) => isResume(action, turnId) && at >= crashedAt
    return entries.some(resumed) ? undefined : true
  }

  /** An agent begins a turn. The record of its start capture must be durable, and so must the capture. */
  begins(chat: Uri, turnId: string): void {
    const { disk, fail } = this.#context
    this.late.delete(turnId)
    const folders = captureRecord(disk, { chat, turnId }, disk.durable)?.folders ?? []
    const [folder] = folders.filter((each) => each.directory === directory)
    if (folder?.problem === undefined && !this.folder.has(folder?.start ?? ''))
      fail('O30', `an agent begins ${turnId} of ${chat} before its start capture is durable`)
  }

  /** A client has learned that one of its actions was accepted. */
  accepted(channel: Uri, seq: number, action: Action): void {
    // An action that changes nothing is acknowledged and not stored. The audit checks that it changes nothing.
    const isStored = this.#context.model.entry(channel, seq) !== undefined
    if (action.type.startsWith('annotations/') && isStored)
      this.acknowledged.push({ channel, seq, text: JSON.stringify(action) })
  }

  /** The calls that run now. */
  get #running(): readonly { readonly turnId: string; readonly toolCallId: string }[] {
    const { model, invariants } = this.#context
    return invariants.chats().flatMap(([uri]) => {
      const turn = model.chat(uri)?.activeTurn
      const calls = callsOf(turn).filter(({ status }) => status === 'running')
      return turn ? calls.map(({ toolCallId }) => ({ turnId: turn.id, toolCallId })) : []
    })
  }

  /**
   * Turns of which a call runs now that names a file, or ran when the turn ended. Until its end capture is taken, the host
   * cannot tell what was written by such a call.
   */
  #callers(): (path: string) => readonly string[] {
    // What somebody changes while no host runs is never taken for the work of a turn.
    if (!this.#core) return () => []
    const running = this.#running
    // After a crash the host does not take what it finds for the work of the turn.
    const ending = owedCaptures(this.#context.disk).filter((turn) => !this.isLate(turn))
    const ended = ending.flatMap(({ turnId }) =>
      [...(this.#named.get(turnId)?.keys() ?? [])].map((toolCallId) => ({ turnId, toolCallId })),
    )
    return (path) =>
      [...running, ...ended].flatMap(({ turnId, toolCallId }) =>
        this.#named.get(turnId)?.get(toolCallId)?.includes(path) ? [turnId] : [],
      )
  }
}
