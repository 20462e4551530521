import { errorCodes } from '@atrium/protocol/errors'
import type { Version } from '@atrium/protocol/versions/negotiate'
import { Skipped } from '../kit/check.ts'
import { Unreachable } from '../kit/host-facts.ts'
import type { Target } from '../kit/link.ts'
import { Board } from './board.ts'
import type { Cell } from './board.ts'
import { approve, answer } from './features/decisions.ts'
import { queue, steer } from './features/pending.ts'
import { comeBack, ownDialect, sameState } from './features/return.ts'
import { create, dispose, forkChat, forkSession } from './features/sessions.ts'
import { refusal, rename, toggle } from './features/settings.ts'
import { cancel, prompt, truncate } from './features/turns.ts'
import { Scene, messageOf, openSpeaker } from './scene.ts'
import type { Feature, Member } from './scene.ts'
import { openShared } from './shared-session.ts'
import type { SharedOptions, SharedSession } from './shared-session.ts'
import { isSince } from './speaker.ts'
import type { Speaker } from './speaker.ts'
import { View } from './view.ts'

/**
 * One version of each kind, oldest first. 0.2 is left out because it differs from 0.3 only in its messages. 0.5.0 and 0.5.1 are
 * left out because they speak as 0.5.2 or 0.4 does.
 */
export const matrixVersions: readonly Version[] = [
  '0.1.0',
  '0.3.0',
  '0.4.0',
  '0.5.2',
  '0.6.0',
  '0.7.0',
  '0.8.0',
  '0.9.0',
  '1.0.0',
]

/**
 * The features, which are the rows of the matrix after the first row, `connect`. `dispose` follows `create`, whose
 * session it removes; the last rows judge all that went before.
 */
export const features: readonly Feature[] = [
  create,
  prompt,
  approve,
  answer,
  queue,
  steer,
  cancel,
  rename,
  toggle,
  truncate,
  forkSession,
  forkChat,
  refusal,
  dispose,
  comeBack,
  ownDialect,
  sameState,
]

/** The first row: the host speaks the version, and the client finds and opens the shared session. */
export const connect = 'connect'

export interface MatrixOptions extends SharedOptions {
  /** The versions that must be spoken. Absent: those of the matrix that the host accepts. */
  readonly versions?: readonly Version[] | undefined
  /** The rows to run. Absent: all. */
  readonly features?: readonly string[] | undefined
}

export interface Matrix {
  readonly versions: readonly Version[]
  readonly features: readonly string[]
  readonly cells: readonly Cell[]
  readonly provider: string | undefined
}

/** Fills in the matrix. Rejects with Unreachable if no connection can be opened. */
export async function runMatrix(target: Target, options: MatrixOptions): Promise<Matrix> {
  const board = new Board()
  const versions = options.versions ?? matrixVersions
  const rows = features.filter(({ name }) => options.features?.includes(name) ?? true)
  const speakers: Speaker[] = []
  const result = (provider?: string) => ({
    versions,
    features: [connect, ...rows.map(({ name }) => name)],
    cells: board.cells,
    provider,
  })
  try {
    for (const version of versions) {
      const speaker = await greet(target, version, board, options.versions !== undefined)
      if (speaker) speakers.push(speaker)
    }
    const newest = speakers.at(-1)
    if (!newest) return result()
    const shared = await openShared(target, newest, options)
    const members = await join(speakers, shared, board)
    const scene = new Scene(target, shared.options, members, board)
    try {
      for (const feature of rows) await runFeature(scene, feature, board)
    } finally {
      await leave(scene)
    }
    return result(shared.options.provider)
  } finally {
    for (const speaker of speakers) speaker.terminate()
  }
}

/**
 * Opens a connection and initializes it. If the host does not speak the version, notes that on the board and returns
 * undefined. `required`: a refused version counts as failed.
 */
async function greet(
  target: Target,
  version: Version,
  board: Board,
  required: boolean,
): Promise<Speaker | undefined> {
  const speaker = await openSpeaker(target, version).catch((error: unknown) => {
    throw new Unreachable(messageOf(error))
  })
  try {
    const answer = await speaker.initialize()
    if (!('error' in answer)) return speaker
    const refused = !required && answer.error.code === errorCodes.UnsupportedProtocolVersion
    const reason = `the host refuses ${version}: ${answer.error.message}`
    board.note(connect, version, refused ? 'refused' : 'failed', reason)
  } catch (error) {
    board.note(connect, version, 'failed', messageOf(error))
  }
  speaker.terminate()
  return undefined
}

/** Lets the client of each version find the shared session by its title and open it. */
async function join(
  speakers: readonly Speaker[],
  { title, find }: SharedSession,
  board: Board,
): Promise<readonly Member[]> {
  const members: Member[] = []
  for (const speaker of speakers) {
    const { version } = speaker
    try {
      members.push({ version, speaker, view: await View.open(speaker, await find(speaker, title)) })
      board.note(connect, version, 'yes')
    } catch (error) {
      board.note(connect, version, 'failed', messageOf(error))
    }
  }
  return members
}

/** Runs a feature with every client, one after the other. */
async function runFeature(scene: Scene, feature: Feature, board: Board): Promise<void> {
  scene.begin(feature.name)
  for (const actor of scene.members) {
    const { version } = actor
    const { name, since = '0.1.0', until = '1.0.0' } = feature
    if (!isSince(version, since) || !isSince(until, version)) {
      board.note(name, version, 'absent')
      continue
    }
    try {
      await scene.rest()
      await feature.run(scene, actor)
      board.note(name, version, 'yes')
    } catch (error) {
      board.note(name, version, error instanceof Skipped ? 'skip' : 'failed', messageOf(error))
    }
  }
}

/** Disposes of the sessions of the run, over any connection that still works, and closes all connections. */
async function leave({ members }: Scene): Promise<void> {
  for (const { speaker, own } of members)
    if (own) await speaker.try('disposeSession', speaker.sessionParams(own.session)).catch(() => {})
  for (const { speaker, view } of members.toReversed()) {
    const answer = await speaker
      .try('disposeSession', speaker.sessionParams(view.session))
      .catch(() => undefined)
    if (answer && 'result' in answer) break
  }
  for (const { speaker } of members) speaker.terminate()
}
