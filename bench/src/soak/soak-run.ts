import type { Envelope, Uri } from '@atrium/protocol/channel'
import type { Endpoint } from '../client.ts'
import { AuditedSession } from './audited-session.ts'
import type { RandomChoices } from './random-choices.ts'
import { withTimeout } from './timeout.ts'

const sessionCount = 20
/**
 * A session with more delivered actions than this is closed. The audit needs a replay of the whole log, and the host
 * sends a snapshot instead of a replay that is too long.
 */
const mostDelivered = 2000

/** The shared state of a soak run: the open sessions, the counts and the problems. */
export class SoakRun {
  readonly endpoint: Endpoint
  readonly problems: string[] = []
  readonly counts = {
    delivered: 0,
    sessions: 0,
    reconnects: 0,
    'late upgrades': 0,
    attacks: 0,
    stalls: 0,
    comparisons: 0,
    audits: 0,
  }
  over = false
  readonly #show: (problem: string) => void
  readonly #sessions = new Map<Uri, AuditedSession>()
  #lastName = 0

  /** `show` is called with each problem. */
  constructor({ url, token }: Endpoint, show: (problem: string) => void = () => {}) {
    this.endpoint = { url, token, lateUpgrade: () => ++this.counts['late upgrades'] <= maxLateUpgrades }
    this.#show = show
  }

  get openSessions(): readonly AuditedSession[] {
    return [...this.#sessions.values()].filter(({ open }) => open)
  }

  /** The number of sessions that exist, including those being closed. */
  get sessionCount(): number {
    return this.#sessions.size
  }

  session(uri: Uri): AuditedSession | undefined {
    return this.#sessions.get(uri)
  }

  /** Records an envelope that a client received. */
  delivered(envelope: Envelope): void {
    this.counts.delivered++
    this.problem(this.#sessions.get(envelope.channel)?.record.add(envelope))
  }

  problem(...problems: readonly (string | undefined)[]): void {
    for (const problem of problems) {
      if (problem === undefined) continue
      this.problems.push(problem)
      this.#show(problem)
    }
  }

  async open(): Promise<AuditedSession> {
    const session = await AuditedSession.create(this.endpoint, `ahp-session:/soak-${++this.#lastName}`)
    this.#sessions.set(session.uri, session)
    this.counts.sessions++
    return session
  }

  async close(session: AuditedSession): Promise<void> {
    await withTimeout(`the last client to leave ${session.uri}`, session.retire())
    this.problem(
      ...(await withTimeout(`the audit of ${session.uri}`, session.auditAndDispose(this.endpoint))),
    )
    this.#sessions.delete(session.uri)
    this.counts.audits++
  }

  /** Keeps the number of open sessions constant. Closes sessions that are full, and at random sometimes another one. */
  async replaceSessions(random: RandomChoices): Promise<void> {
    while (!this.over) {
      while (this.openSessions.length < sessionCount) await this.open()
      const full = this.openSessions.find(({ record }) => record.size > mostDelivered)
      const session = full ?? (random.between(0, 10) === 0 ? random.pick(this.openSessions) : undefined)
      if (session) await this.close(session).catch((error: unknown) => this.problem(String(error)))
      await random.pause(100, 400)
    }
  }

  async closeAll(): Promise<void> {
    for (const session of this.openSessions) await this.close(session)
  }
}

/**
 * The number of connections in a run that the host may close because their upgrade took too long. More are a problem
 * of the host.
 */
const maxLateUpgrades = 5
