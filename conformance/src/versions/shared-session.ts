import type { Uri } from '@atrium/protocol/channel'
import { listOf, shapeOf, textOf } from '@atrium/protocol/versions/shape'
import type { Shape } from '@atrium/protocol/versions/shape'
import { Failed, excerpt } from '../kit/check.ts'
import { promptText } from '../kit/conversation.ts'
import type { NamedForms } from '../kit/habits.ts'
import type { SessionOptions } from '../kit/kit.ts'
import type { Login, Target } from '../kit/link.ts'
import { chatFormOf, sessionForms } from '../kit/uri-form.ts'
import type { UriForm } from '../kit/uri-form.ts'
import { Board } from './board.ts'
import { turnsIn } from './reading.ts'
import { Scene } from './scene.ts'
import type { Member, SceneOptions } from './scene.ts'
import type { Speaker } from './speaker.ts'
import { View } from './view.ts'

export interface SharedOptions extends SessionOptions {
  /** The agent to create sessions with. Absent: the first agent that needs no login. */
  readonly provider?: string | undefined
  readonly forms?: NamedForms | undefined
}

export interface SharedSession {
  readonly title: string
  readonly options: SceneOptions
  find(speaker: Speaker, title: string): Promise<Uri>
}

/** Thrown if the host lists no session that the kit can create, so that nothing can be judged. */
export class NoSession extends Error {
  override readonly name = 'NoSession'
}

/**
 * Creates the session that all clients share. The client of the newest version creates it and runs a turn in it, because a host
 * may leave a session out of its list until its first turn. The form of the URI is the first one with which the host lists the
 * session under its agent.
 */
export async function openShared(
  target: Target,
  newest: Speaker,
  options: SharedOptions,
): Promise<SharedSession> {
  const agent = await agentOf(newest, options.provider, target.logins)
  const provider = textOf(agent, 'provider') ?? ''
  const forms = options.forms?.sessionForm === undefined ? sessionForms : [options.forms.sessionForm]
  let problem = 'no form of a session URI was tried'
  for (const sessionForm of forms) {
    const tried = await trySession(target, newest, { ...options, provider, sessionForm }).catch(
      (error: Error) => void (problem = error.message),
    )
    if (!tried) continue
    const { title, view, scene } = tried
    const chatForm = options.forms?.chatForm ?? chatFormOf(view.conversation, view.session)
    const forks = forksOf(newest, agent)
    return {
      title,
      options: { ...options, provider, sessionForm, chatForm, forks },
      find: (speaker, wanted) => scene.find({ speaker }, wanted),
    }
  }
  throw new NoSession(problem)
}

async function trySession(
  target: Target,
  speaker: Speaker,
  options: SessionOptions & { readonly provider: string; readonly sessionForm: UriForm },
): Promise<{ title: string; view: View; scene: Scene }> {
  const scene = new Scene(target, { ...options, chatForm: '', forks: false }, [], new Board())
  const session = await scene.create({ speaker })
  const view = await View.open(speaker, session)
  const member: Member = { version: speaker.version, speaker, view }
  const turnId = await scene.startTurn(member, promptText)
  const ended = () => turnsIn(member.version, view.talk()).find(({ id }) => id === turnId)
  await speaker.until('the first turn to end', ended, scene.turnTimeoutMs)
  const title = await scene.rename(member)
  const listed = (await speaker.listSessions()).find((item) => item['title'] === title)
  if (listed?.['provider'] !== options.provider)
    throw new Failed(
      `${session} in the list, with the agent ${options.provider}`,
      excerpt(listed ?? 'nothing'),
    )
  return { title, view, scene }
}

/** The agent of the command line, or the first that needs no login. */
async function agentOf(
  speaker: Speaker,
  provider: string | undefined,
  logins: readonly Login[] = [],
): Promise<Shape> {
  const root = shapeOf((await speaker.subscribe(speaker.root))['state'])
  const agents = listOf(root, 'agents').map(shapeOf)
  const given = new Set(logins.map(({ resource }) => resource))
  const isOpen = (agent: Shape) =>
    listOf(agent, 'protectedResources')
      .map(shapeOf)
      .every(({ required, resource }) => required === false || given.has(String(resource)))
  const found =
    provider === undefined
      ? (agents.find(isOpen) ?? agents[0])
      : agents.find((agent) => agent['provider'] === provider)
  if (found) return found
  throw new NoSession(`the host offers no agent ${provider ?? 'at all'}`)
}

/** Whether the agent can fork a chat. Versions before 0.5.1 do not say it, so it is assumed. */
function forksOf(speaker: Speaker, agent: Shape): boolean {
  if (!speaker.has('0.5.1')) return true
  return shapeOf(shapeOf(agent['capabilities'])['multipleChats'])['fork'] === true
}
