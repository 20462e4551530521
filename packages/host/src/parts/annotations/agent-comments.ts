import { catalogOf } from '../../catalog/catalog.ts'
import type { CommentingTurn } from '../../catalog/commenting.ts'
import type { AnnotationsAction } from '@atrium/protocol/annotations/actions'
import { withOwn } from '@atrium/protocol/annotations/own'
import type { Author } from '@atrium/protocol/annotations/own'
import type { Annotation, AnnotationEntry } from '@atrium/protocol/annotations/state'
import type { TextRange } from '@atrium/protocol/common/text'
import { compact } from '@atrium/protocol/update'
import { annotationsUri } from '@atrium/protocol/uri'
import { wakeIfSound } from '../../channels/wake.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { TurnFailed } from '../../ports/agent.ts'
import type { Comments, NewComment } from '../../ports/comments.ts'
import { locate, quoted } from '../tools/session-file.ts'
import { annotationText } from './excerpt.ts'
import { filesChosen } from './file-follower.ts'
import { followChannel, readLines } from './followed-files.ts'
import { annotationsProblem } from './guards.ts'

/**
 * Returns the functions with which the agent of a turn lists, adds, answers and resolves annotations of its session.
 * An agent's changes are checked like those of clients.
 */
export function agentComments(turn: CommentingTurn): Comments {
  return {
    get exist() {
      return (catalogOf(turn.core).get(turn.session.uri)?.annotations?.annotationCount ?? 0) > 0
    },
    list: async (path) => {
      const { core, session, chat } = turn
      const file = path === undefined ? undefined : locate(session, chat, path).uri
      const channel = await open(turn)
      await followChannel(core, channel)
      const wanted = channel.head.annotations.filter(
        ({ resource }) => file === undefined || resource === file,
      )
      const listed = wanted.map(async (annotation) => {
        const { id, resolved } = annotation
        return { id, resolved, text: await annotationText(core, annotation) }
      })
      return Promise.all(listed)
    },
    add: (comment) => add(turn, comment),
    reply: async (id, text) => {
      const channel = await open(turn)
      const annotationId = named(channel, id)
      await write(turn, channel, { type: 'annotations/entrySet', annotationId, entry: entryOf(turn, text) })
    },
    resolve: async (id, resolved) => {
      const channel = await open(turn)
      await write(turn, channel, { type: 'annotations/updated', annotationId: named(channel, id), resolved })
    },
  }
}

async function add(turn: CommentingTurn, { path, text, ...lines }: NewComment): Promise<string> {
  const { core, session, chat, turnId } = turn
  const { uri: resource } = locate(session, chat, path)
  const range = await rangeOf(core, resource, path, lines)
  const channel = await open(turn)
  const id = core.world.id()
  const annotation = compact<Annotation>({
    id,
    origin: { session: session.uri, chat: chat.uri, turnId },
    resource,
    range,
    resolved: false,
    entries: [entryOf(turn, text)],
  })
  await write(turn, channel, { type: 'annotations/set', annotation })
  return id
}

/**
 * Returns the range of a comment, as whole lines. Undefined if the comment is about the whole file. Throws if the
 * file has no such lines, so that an agent that has miscounted is told.
 */
async function rangeOf(
  core: Core,
  resource: string,
  path: string,
  { line, lastLine = line }: Pick<NewComment, 'line' | 'lastLine'>,
): Promise<TextRange | undefined> {
  const file = await readLines(core, resource)
  if (file === 'unreadable') throw new TurnFailed('files', `${quoted(path)} cannot be read`)
  if (!file) throw new TurnFailed('files', `there is no file ${quoted(path)}`)
  if (line === undefined || lastLine === undefined) return undefined
  if (lastLine < line) throw new TurnFailed('files', `${quoted(path)}: the last line is before the first`)
  const count = file.lines.length
  if (line < 1 || lastLine > count)
    throw new TurnFailed('files', `${quoted(path)} has the lines 1 to ${count}`)
  const character = file.lines[lastLine - 1]?.length ?? 0
  return { start: { line: line - 1, character: 0 }, end: { line: lastLine - 1, character } }
}

async function open({ core, session, requireRunning }: CommentingTurn): Promise<Channel<'annotations'>> {
  requireRunning()
  const channel = await wakeIfSound(core, annotationsUri(session.uri))
  requireRunning()
  if (!channel?.is('annotations'))
    throw new TurnFailed('comments', core.readOnlyReason() ?? 'the comments of this session cannot be read')
  return channel
}

async function write(
  { core, requireRunning }: CommentingTurn,
  channel: Channel<'annotations'>,
  action: AnnotationsAction,
): Promise<void> {
  requireRunning()
  const reason = core.readOnlyReason() ?? annotationsProblem(core, channel, action)
  if (reason !== undefined) throw new TurnFailed('comments', reason)
  const { last } = core.log.append(channel, action)
  filesChosen(core, channel)
  await core.log.reached(last)
}

/**
 * Returns the id of the annotation that an agent means by an id, or by the beginning of one. Throws if there is no
 * such annotation, or if there are several.
 */
function named({ head }: Channel<'annotations'>, given: string): string {
  const found = head.annotations.filter(({ id }) => given !== '' && id.startsWith(given))
  const [only, ...others] = found.some(({ id }) => id === given)
    ? found.filter(({ id }) => id === given)
    : found
  if (!only) throw new TurnFailed('comments', `there is no annotation ${quoted(given)}`)
  if (others.length > 0) throw new TurnFailed('comments', `several annotations begin with ${quoted(given)}`)
  return only.id
}

function entryOf({ core, agent, chat }: CommentingTurn, text: string): AnnotationEntry {
  const { provider, displayName: name } = agent.info
  const author: Author = { provider, name, chat: chat.uri }
  return withOwn<AnnotationEntry>({ id: core.world.id(), text: { markdown: text } }, { author })
}
