import type { Action, Uri } from '@atrium/protocol/channel'
import { makeShownForms } from '../channels/oversized.ts'
import { notifications } from '@atrium/protocol/commands'
import type { NotificationParams } from '@atrium/protocol/commands'
import { checkAction } from '@atrium/protocol/kind'
import { decode, id } from '@atrium/protocol/schema'
import { rootUri } from '@atrium/protocol/uri'
import { isTurnAction } from '@atrium/protocol/versions/known'
import { Refusal } from '@atrium/protocol/versions/lens'
import { damageOf, wakeIfSound } from '../channels/wake.ts'
import type { Core } from '../kernel/core.ts'
import { liftContext } from '../dialect/lift-context.ts'
import { dispatch } from '../dispatch/dispatch.ts'
import { serves } from '../kernel/generation.ts'
import type { Channel } from '../kernel/log/channel.ts'
import { cutAt } from '../kernel/log/channel-rows.ts'
import type { Dispatcher } from '../kernel/log/options.ts'
import { StoreAway } from '../ports/lease.ts'
import type { ClientLink } from './client-link.ts'
import { checkParams } from './intake.ts'
import type { Intake } from './intake.ts'

type DispatchParams = NotificationParams<'dispatchAction'>

/** The notifications of one client: `unsubscribe` and `dispatchAction`, in the order in which they were sent. */
export class Notifications {
  readonly #core: Core
  readonly #link: ClientLink
  readonly #intake: Intake

  constructor(core: Core, link: ClientLink, intake: Intake) {
    this.#core = core
    this.#link = link
    this.#intake = intake
  }

  receive(method: string, params: unknown): unknown {
    const note = notifications.get(method)
    if (note?.from !== 'client') return undefined
    return this.#intake.notification((refusal) => {
      if (!this.#link.opened || this.#link.ended) return undefined
      const { nested } = this.#link.dialect.generation
      const native = nested ? withChannel(method, params) : params
      const decoded = checkParams(note.params, native)
      if (!decoded.ok) return this.#malformed(method, native, decoded.problem)
      // The schema of the method has checked the params. A client may send only these two notifications.
      if (method === 'unsubscribe')
        return this.#unsubscribe(decoded.value as NotificationParams<'unsubscribe'>)
      const dispatched = decoded.value as DispatchParams
      return this.#dispatch(dispatched, refusal ?? (nested ? missingChannel(dispatched.action) : undefined))
    })
  }

  #unsubscribe({ channel }: NotificationParams<'unsubscribe'>): void {
    this.#link.unsubscribe(this.#link.dialect.canonicalUri(channel))
  }

  /**
   * Dispatches an action. If the channel is in memory, the action is applied at once. A dispatch to an unknown channel is
   * ignored.
   */
  #dispatch(params: DispatchParams, refusal: string | undefined): void | Promise<void> {
    const { log } = this.#core
    const { dialect, subscriptions } = this.#link
    const uri = dialect.targetOf(dialect.canonicalUri(params.channel), params.action)
    // A channel that the client is subscribed to keeps the name that the client gave in the subscription.
    if (uri !== params.channel && !subscriptions.find(uri)) dialect.setAlias(uri, params.channel)
    const channel = log.channel(uri)
    const ready = channel && missingTurn(channel, params.action) === undefined
    if (ready && !log.congested && !needsWaking(this.#core, uri, params.action))
      return this.#apply(channel, params, refusal)
    return log
      .room()
      .then(() => this.#wakeAndApply(uri, params, refusal))
      .catch((error: unknown) => this.#away(error))
  }

  /** Closes the link if the database is away. The client sends its action again, because there was no answer to it. */
  #away(error: unknown): void {
    if (!(error instanceof StoreAway)) throw error
    this.#intake.report('database away', error)
    this.#intake.close(1013, 'this node cannot reach its database; connect again')
  }

  async #wakeAndApply(uri: Uri, params: DispatchParams, refusal: string | undefined): Promise<void> {
    if (refusal === undefined)
      for (const needs of this.#core.parts.dispatchRules.needs)
        for (const each of needs(this.#core, uri, params.action)) await wakeIfSound(this.#core, each)
    // Another round is needed if the channel goes back to sleep while its turns are read.
    for (;;) {
      const channel = await wakeIfSound(this.#core, uri)
      if (!channel || this.#link.ended) return
      const missing = refusal === undefined ? missingTurn(channel, params.action) : undefined
      if (missing === undefined) return this.#apply(channel, params, refusal)
      const damage = await damageOf(this.#core, () => this.#core.log.loadRows(channel, missing))
      await makeShownForms(this.#core, channel)
      if (damage !== undefined) return this.#apply(channel, params, damage)
    }
  }

  #apply(channel: Channel, params: DispatchParams, refusal: string | undefined): void {
    const link = this.#link
    const { clientSeq, action: sent } = params
    const { generation } = link.dialect
    if (!serves(generation, channel.kindName))
      refusal = `AHP ${generation.version} has no channel ${JSON.stringify(params.channel.slice(0, 200))}`
    else if (!link.dialect.reaches(channel, params.channel)) return
    if (refusal !== undefined) return this.#refuse(channel, clientSeq, sent, refusal)
    const context = () => liftContext(this.#core, link, channel, sent)
    const action = link.dialect.fromClient(channel.kindName, sent, context)
    if (action instanceof Refusal) return this.#refuse(channel, clientSeq, sent, action.reason)
    const checked = checkAction(channel.kind, action)
    const accepted = checked.ok ? link.resends?.match(channel, clientSeq, checked.value) : undefined
    const older = link.dialect.generation.lens && { sent }
    if (accepted === undefined) {
      this.#intake.charge(channel.listeners.size * deliveryCost)
      dispatch(this.#core, link, channel, { clientSeq, action, ...older })
      return
    }
    // The log has stored the action on another channel, so no echo of it on this channel can be replayed. The host sends the
    // echo again.
    if (accepted.channel !== channel.uri)
      return void this.#core.log.echo(channel, action, { by: this.#by(clientSeq), listener: link, ...older })
    if (link.subscriptions.isDeliveredTo(channel, accepted.seq)) return
    this.#refuse(channel, clientSeq, sent, `already accepted as ${accepted.seq}`)
  }

  /**
   * Refuses a malformed dispatch if its channel, its `clientSeq` and its action type can be read. Any other malformed
   * notification is reported.
   */
  #malformed(method: string, params: unknown, problem: string): void | Promise<void> {
    // The cast is safe: the members that identify a dispatch are checked one by one below.
    const { channel, clientSeq = -1, action } = (params ?? {}) as Partial<DispatchParams>
    const identified = decode(id, channel).ok && Number.isSafeInteger(clientSeq) && clientSeq >= 0
    if (identified && typeof action?.type === 'string')
      return this.#dispatch(params as DispatchParams, problem)
    this.#intake.report('malformed notification', `${method}: ${problem}`)
  }

  #refuse(channel: Channel, clientSeq: number, action: Action, reason: string): void {
    this.#core.log.refuse(channel, action, { by: this.#by(clientSeq), listener: this.#link }, reason)
  }

  #by(clientSeq: number): Dispatcher {
    const { clientId, principal } = this.#link
    return { clientId, clientSeq, principal }
  }
}

/**
 * Adds the channel to params of AHP 0.1, which have none. The action names its session or terminal. An action that
 * names neither goes to the root channel, where it can be refused.
 */
function withChannel(method: string, params: unknown): unknown {
  if (typeof params !== 'object' || params === null) return params
  if (method === 'unsubscribe') return 'resource' in params ? { channel: params.resource } : params
  const action = 'action' in params ? params.action : undefined
  if (typeof action !== 'object' || action === null) return params
  const { session, terminal }: { session?: unknown; terminal?: unknown } = action
  return { channel: session ?? terminal ?? rootUri, ...params }
}

/**
 * Returns the reason to refuse an action of 0.1 that does not name its session or terminal. Undefined if it names it.
 */
function missingChannel(action: Action): string | undefined {
  const [member = ''] = action.type.split('/')
  if (member !== 'session' && member !== 'terminal') return undefined
  return member in action ? undefined : `${action.type}: ${member}: is missing`
}

/** Returns the id of the turn that an action truncates the chat at, if that turn is not in memory. */
function missingTurn(channel: Channel, action: Action): string | undefined {
  const turnId = cutAt(isTurnAction(action.type) ? { ...action, type: chatType(action.type) } : action)
  return turnId !== undefined && channel.missing(turnId).length > 0 ? turnId : undefined
}

/** Whether an action needs channels that are not in memory. */
function needsWaking(core: Core, channel: Uri, action: Action): boolean {
  return core.parts.dispatchRules.needs.some((needs) => needs(core, channel, action).length > 0)
}

/**
 * Returns the type that the action of a turn has in AHP 0.4 and later. Up to 0.3 the type begins with `session/`
 * instead of `chat/`.
 */
function chatType(type: string): string {
  return `chat${type.slice(type.indexOf('/'))}`
}

/**
 * What the delivery of an action to one subscriber adds to the cost of the client's message. A short message
 * by itself costs about 512.
 */
const deliveryCost = 64
