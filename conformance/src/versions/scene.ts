import { randomUUID } from 'node:crypto'
import type { Uri } from '@atrium/protocol/channel'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { shapeOf, textOf } from '@atrium/protocol/versions/shape'
import { Failed, Skipped, excerpt } from '../kit/check.ts'
import type { SessionOptions } from '../kit/kit.ts'
import type { Target } from '../kit/link.ts'
import { uriOf } from '../kit/uri-form.ts'
import type { UriForm } from '../kit/uri-form.ts'
import type { Board } from './board.ts'
import { activeTurnIn, queueIn, steeringIn, titleIn } from './reading.ts'
import { Speaker, isSince } from './speaker.ts'
import { View } from './view.ts'

/** How long a turn may take if the command line does not say it. */
const defaultTurnTimeoutMs = 60_000

/** One version of AHP: its client, which may come back over a new connection, and its view of the shared session. */
export interface Member {
  readonly version: Version
  speaker: Speaker
  view: View
  /** The session that the client has created for itself. */
  own?: { readonly session: Uri; readonly title: string }
}

export interface SceneOptions extends SessionOptions {
  readonly provider: string
  readonly sessionForm: UriForm
  readonly chatForm: UriForm
  /** Whether the agent can fork a chat. */
  readonly forks: boolean
}

/** A row of the matrix: something that a client does in its own version, and that the clients of all versions must see. */
export interface Feature {
  readonly name: string
  /** The first and the last version that has the feature. Absent: all versions. */
  readonly since?: Version
  readonly until?: Version
  /**
   * Throws `Failed` if the feature does not work for the client, and `Skipped` if the host does not offer what the
   * feature needs.
   */
  run(scene: Scene, actor: Member): Promise<void>
}

/** The shared session with a client of each version, and what all features need. */
export class Scene {
  readonly target: Target
  readonly options: SceneOptions
  /** Oldest version first. */
  readonly members: readonly Member[]
  readonly #board: Board
  #feature = ''

  constructor(target: Target, options: SceneOptions, members: readonly Member[], board: Board) {
    this.target = target
    this.options = options
    this.members = members
    this.#board = board
  }

  get turnTimeoutMs(): number {
    return this.target.turnTimeoutMs ?? defaultTurnTimeoutMs
  }

  begin(feature: string): void {
    this.#feature = feature
  }

  /**
   * Returns a client of another version, which begins something that the acting client continues. A client that could not start
   * a turn is left out. If no other client is left, returns the acting client.
   */
  another(member: Member): Member {
    const at = this.members.indexOf(member) + 1
    const others = [...this.members.slice(at), ...this.members.slice(0, at - 1)]
    return others.find(({ version }) => !this.#board.hasFailed('prompt', version)) ?? member
  }

  /**
   * Waits until every client sees something. If the acting client does not see it, its cell fails and the feature ends. If
   * another client does not see it, the cell of that client fails, and later waits in this feature leave that client out.
   */
  all(
    actor: Member,
    what: string,
    look: (member: Member) => unknown,
    { since = '0.1.0' as Version, timeoutMs = this.target.timeoutMs } = {},
  ): Promise<void> {
    const sees = async (member: Member) =>
      void (await member.speaker.until(what, () => look(member) || undefined, timeoutMs))
    return this.each(actor, sees, since)
  }

  /**
   * Runs a check with every client, and notes the failures as `all` does. The acting client comes first: if it has not done
   * what it meant to do, no other client is to blame.
   */
  async each(
    actor: Member,
    check: (member: Member) => Promise<void> | void,
    since: Version = '0.1.0',
  ): Promise<void> {
    await check(actor)
    const watching = this.watchers(actor, since)
    const found = await Promise.allSettled(watching.map(async (member) => check(member)))
    for (const [at, { version }] of watching.entries()) {
      const result = found[at]
      if (result?.status !== 'rejected') continue
      const reason = `done at ${actor.version}: ${messageOf(result.reason)}`
      this.#board.note(this.#feature, version, 'failed', reason)
    }
  }

  /** The other clients that have not failed in this feature. */
  watchers(actor: Member, since: Version = '0.1.0'): readonly Member[] {
    return this.members.filter(
      (member) =>
        member !== actor &&
        isSince(member.version, since) &&
        !this.#board.hasFailed(this.#feature, member.version),
    )
  }

  /** Opens a new connection of the same client. */
  async connectAgain(member: Member): Promise<Speaker> {
    return openSpeaker(this.target, member.version, member.speaker)
  }

  /** A client of the same version that nobody has seen before, with its view of the session. */
  async fresh(member: Member): Promise<View> {
    const speaker = await openSpeaker(this.target, member.version)
    const answer = await speaker.initialize()
    if ('error' in answer) throw new Failed('a result of initialize', excerpt(answer.error))
    const { session, conversation } = member.view
    return View.open(speaker, session, conversation)
  }

  /** Starts a turn and waits until it is accepted. Returns its id. */
  async startTurn(member: Member, text: string, view = member.view): Promise<string> {
    const turnId = randomUUID()
    const startedAt = member.speaker.has('0.6.0') && { startedAt: new Date().toISOString() }
    const message = view.message(text, this.options.model)
    await view.say('turnStarted', { turnId, ...startedAt, ...message })
    return turnId
  }

  async rename(member: Member, view = member.view): Promise<string> {
    const title = `conformance ${randomUUID()}`
    await view.set('titleChanged', { title })
    return title
  }

  async cancel(member: Member, turnId: string): Promise<void> {
    const duration = member.speaker.has('0.6.0') && { duration: 0 }
    await member.view.say('turnCancelled', { turnId, ...duration })
  }

  /** Creates a session, with a URI and params as the version of the client writes them. Returns the URI. */
  async create(member: Member | { readonly speaker: Speaker }, more: object = {}): Promise<Uri> {
    const { speaker } = member
    const { provider, sessionForm, model, sessionParams } = this.options
    const session = uriOf(speaker.has('0.2.0') ? sessionForm : '{provider}:/{id}', {
      id: randomUUID(),
      provider,
    })
    const selection = model !== undefined && !speaker.has('0.5.0') && { model: { id: model } }
    await speaker.createSession(session, {
      provider,
      ...selection,
      ...paramsFor(speaker, sessionParams),
      ...more,
    })
    return session
  }

  /** The URI by which a client is shown the session with this title. URIs differ between versions; titles do not. */
  async find({ speaker }: { readonly speaker: Speaker }, title: string): Promise<Uri> {
    const items = await speaker.listSessions()
    const found = items.find((item) => textOf(item, 'title') === title)
    if (!found)
      throw new Failed(`a session "${title}" in the list`, excerpt(items.map((item) => item['title'])))
    return textOf(found, 'resource') ?? ''
  }

  /**
   * Brings the shared session to rest: reconnects lost clients, removes pending messages, and cancels the active
   * turn. So a feature that failed does not make the next one fail.
   */
  async rest(): Promise<void> {
    for (const member of this.members) if (member.speaker.closed !== undefined) await this.#rejoin(member)
    const newest = this.members.at(-1)
    if (!newest) return
    const { view, speaker, version } = newest
    const steering = steeringIn(version, view.talk())
    if (steering)
      await view.say('pendingMessageRemoved', { kind: 'steering', id: steering.id }).catch(() => {})
    for (const { id } of queueIn(version, view.talk()))
      await view.say('pendingMessageRemoved', { kind: 'queued', id }).catch(() => {})
    const active = activeTurnIn(version, view.talk())
    if (active) await this.cancel(newest, active.id).catch(() => {})
    await speaker.until('the session at rest', () => !activeTurnIn(version, view.talk()) || undefined)
  }

  /** Gives a client whose connection has ended a new connection and a new view of the shared session. */
  async #rejoin(member: Member): Promise<void> {
    const { session, conversation } = member.view
    member.speaker = await this.connectAgain(member)
    await member.speaker.initialize()
    member.view = await View.open(member.speaker, session, conversation)
  }
}

/** Opens a connection. Nothing is sent yet. */
export async function openSpeaker(target: Target, version: Version, earlier?: Speaker): Promise<Speaker> {
  const speaker = new Speaker(target, version, earlier)
  await speaker.opened()
  return speaker
}

export function messageOf(error: unknown): string {
  if (error instanceof Failed || error instanceof Skipped) return error.message
  return `the kit failed: ${String(error)}`
}

/** Whether a client sees this title of the shared session. */
export function seesTitle(title: string): (member: Member) => boolean {
  return ({ version, view }) => titleIn(version, view.state()) === title
}

/**
 * Translates the params for `createSession`, which the command line gives as the newest version has them. Up to 0.6 a
 * session has only one working directory.
 */
function paramsFor(speaker: Speaker, params: object = {}): object {
  const { workingDirectories, ...others } = shapeOf(params)
  if (!Array.isArray(workingDirectories) || speaker.has('0.7.0')) return params
  return { ...others, workingDirectory: workingDirectories[0] as unknown }
}
