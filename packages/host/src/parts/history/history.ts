import { catalogOf } from '../../catalog/catalog.ts'
import type { Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { rootUri } from '@atrium/protocol/uri'
import type {
  EnvelopesParams,
  PastPage,
  PastState,
  StateAtParams,
  Unfinished,
} from '@atrium/protocol/root/past'
import { isGone } from '../../channels/gone.ts'
import type { Core } from '../../kernel/core.ts'
import { unsettledReason } from '../../kernel/space.ts'
import type { Listener } from '../../kernel/log/entry.ts'
import type { CallCount } from './call-count.ts'
import { ChannelHistory } from './channel-history.ts'
import { pageOf } from './page.ts'
import { Forgotten, pastState, readOn } from './reading.ts'
import type { Work } from './reading.ts'
import { shownState } from './snapshot.ts'

const defaultPage = 100

/**
 * Reads the past of channels. A call reads a bounded part of the log, in small parts between which other work goes
 * on. What it has learned stays in memory for the next call, up to a limit.
 */
export class ChannelHistories {
  readonly #core: Core
  readonly #calls: CallCount
  /** The histories in memory. The one that was used last is the last one. */
  readonly #histories = new Map<Uri, ChannelHistory>()
  /**
   * Resolves when the last queued call has ended. One call reads at a time, so that echoes never wait for more than
   * one part.
   */
  #reading: Promise<unknown> = Promise.resolve()

  constructor(core: Core, calls: CallCount) {
    this.#core = core
    this.#calls = calls
  }

  stateAt(link: Listener, params: StateAtParams): Promise<PastState<object> | Unfinished> {
    return this.#call('x-atrium/stateAt', link, params.channel, (upTo, work) =>
      this.#stateAt(params, upTo, work),
    )
  }

  envelopes(link: Listener, params: EnvelopesParams): Promise<PastPage | Unfinished> {
    const { after, position } = params
    if (after !== undefined && position !== undefined)
      throw AhpError.invalidParams('x-atrium/envelopes: after and position exclude each other')
    return this.#call('x-atrium/envelopes', link, params.channel, (upTo, work) =>
      this.#envelopes(params, upTo, work),
    )
  }

  async #stateAt(params: StateAtParams, upTo: number, work: Work): Promise<PastState<object> | Unfinished> {
    const { channel: uri, seq } = params
    if (seq > upTo) throw wrongSeq(`${seq} has not been assigned yet; the newest number is ${upTo}`)
    const history = await this.#upToDate(uri, upTo, work)
    if (history instanceof ChannelHistory) {
      const { shown } = history
      const gap = history.gapAt(seq)
      if (gap) return { ...shown, hidden: 'truncated', gap }
      if (seq < history.origin) {
        if (history.forgotten) return { ...shown, hidden: 'forgotten' }
        throw wrongSeq(`${seq} is before the creation of the channel, which has the number ${history.origin}`)
      }
      if (seq < shown.begins)
        return { ...shown, ...(shown.truncatedTo !== undefined && { hidden: 'truncated' }) }
      const found = await pastState(this.#core, history, seq, work)
      if (!found) return { channel: uri, unfinished: { reached: history.readTo, upTo } }
      const { state, older } = await shownState(this.#core, history, found.state, params)
      const snapshot = { resource: uri, state, fromSeq: found.seq }
      return { ...shown, snapshot, position: found.position, ...(older !== undefined && { older }) }
    }
    return history
  }

  async #envelopes(params: EnvelopesParams, upTo: number, work: Work): Promise<PastPage | Unfinished> {
    const { channel: uri, after, position = 1, limit = defaultPage } = params
    const { envelopesPage } = this.#core.limits
    if (after !== undefined && after > upTo)
      throw AhpError.invalidParams(
        `x-atrium/envelopes: ${after} has not been assigned yet; the newest number is ${upTo}`,
      )
    const history = await this.#upToDate(uri, upTo, work)
    if (!(history instanceof ChannelHistory)) return history
    const from =
      after === undefined
        ? ({ by: 'position', after: Math.max(1, position) - 1 } as const)
        : ({ by: 'seq', after } as const)
    const most = Math.min(Math.max(1, limit), envelopesPage)
    return pageOf(this.#core, history, { ...from, limit: most, upTo })
  }

  /** Runs a call when it is its turn. If actions are forgotten meanwhile, the call begins again. */
  #call<R>(
    method: string,
    link: Listener,
    uri: Uri,
    run: (upTo: number, work: Work) => Promise<R>,
  ): Promise<R> {
    const call = async (): Promise<R> => {
      const core = this.#core
      const { log, limits } = core
      await this.#check(method, uri)
      const upTo = log.committedSeq
      // Streamed text is delivered before it is durable, and the store returns durable actions only.
      if (!(await log.settled()))
        throw AhpError.conflict(`${method}: the newest actions are not stored yet: ${unsettledReason(core)}`)
      try {
        const result = await run(upTo, { left: limits.historyWork, complete: false })
        await this.#check(method, uri)
        return result
      } catch (error) {
        if (!(error instanceof Forgotten)) throw error
        this.#histories.delete(uri)
        return call()
      }
    }
    return this.#calls.counted(method, link, () => {
      const answer = this.#reading.then(call)
      this.#reading = answer.catch(() => {})
      return answer
    })
  }

  /** Throws if a channel does not exist, or has no history. */
  async #check(method: string, uri: Uri): Promise<void> {
    const core = this.#core
    const { log } = core
    const catalog = catalogOf(core)
    if (uri === rootUri || catalog.get(uri) || catalog.sessionOf(uri) !== undefined) return
    const named = `${method}: ${JSON.stringify(uri.slice(0, 200))}`
    if (await isGone(core, uri)) throw AhpError.notFound(`${named} was disposed of, and its history with it`)
    if (log.channel(uri))
      throw AhpError.invalidParams(`${named} has no history: only sessions, chats and the root have one`)
    throw AhpError.notFound(`${named} does not exist`)
  }

  /**
   * Reads the history of a channel up to a sequence number. If the work of this call does not suffice, returns how
   * far it has come.
   */
  async #upToDate(uri: Uri, upTo: number, work: Work): Promise<ChannelHistory | Unfinished> {
    const history = await this.#known(uri)
    this.#histories.delete(uri)
    this.#histories.set(uri, history)
    const complete = await readOn(this.#core, history, upTo, work)
    forgetOldest(this.#histories, this.#core.limits.pastLengthOfAll)
    return complete ? history : { channel: uri, unfinished: { reached: history.readTo, upTo } }
  }

  /** Returns the history of a channel: the one in memory, if the log still begins where that one does, or a new one. */
  async #known(uri: Uri): Promise<ChannelHistory> {
    const { store, world } = this.#core
    const creation = await store.log.creation(uri).catch((error: unknown) => {
      world.report('damaged channel', error)
      throw new AhpError(errorCodes.InternalError, 'the stored history of this channel is damaged')
    })
    const kind = creation && kindNamed(creation.kind)
    if (!creation || !kind) throw AhpError.notFound('the channel is not stored')
    const known = this.#histories.get(uri)
    if (known?.origin === creation.seq) return known
    const before = creation.seq - 1
    const { forgotten = false } = await store.log.read([uri], before, before)
    return new ChannelHistory(creation, kind, forgotten)
  }
}

/** Forgets the histories that were used least recently, if all together need too much memory. The last one stays. */
export function forgetOldest(
  histories: Map<Uri, { readonly states: { readonly length: number } }>,
  maxLength: number,
): void {
  let length = 0
  for (const [at, [uri, { states }]] of [...histories].toReversed().entries()) {
    length += states.length
    if (length > maxLength && at > 0) histories.delete(uri)
  }
}

function wrongSeq(problem: string): AhpError {
  return AhpError.invalidParams(`x-atrium/stateAt: ${problem}`)
}
