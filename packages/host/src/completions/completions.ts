import type { Uri } from '@atrium/protocol/channel'
import type { CompletionItem } from '@atrium/protocol/chat/commands'
import type { Params, Result } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { fileUri, pathOf } from '@atrium/protocol/file-uri'
import type { SessionState } from '@atrium/protocol/session/state'
import { agentOf } from '../agents/agents.ts'
import { sessionOf } from '../core/lookup.ts'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import { childOf } from '../core/file-listing.ts'
import { best, fold } from '../core/fuzzy-match.ts'
import type { Match } from '../core/fuzzy-match.ts'
import { withTimeout } from '../core/timeout.ts'
import type { AgentCommand } from '../ports/agent.ts'
import { containedPath } from '../access/roots.ts'
import { typedAt } from './typed.ts'
import type { Trigger } from './typed.ts'

/**
 * Returns the completions of the word before the cursor. A source that fails or takes too long contributes nothing; the
 * completions of the other sources are still returned.
 */
export async function completions(
  core: Core,
  chat: Channel<'chat'>,
  { kind, text, offset }: Params<'completions'>,
): Promise<Result<'completions'>> {
  if (offset > text.length) throw AhpError.invalidParams('completions: offset is beyond the end of the text')
  // A later protocol version may send other kinds of text. There are no completions for those.
  const typed = kind === 'userMessage' ? typedAt(text, offset, core.limits.completionLength) : undefined
  const session = sessionOf(core, chat.uri)
  if (!typed || !session) return { items: [] }
  const found = await sources[typed.trigger](core, session, chat, typed.word)
  const range = { rangeStart: typed.start, rangeEnd: offset }
  return { items: found.map((each): CompletionItem => ({ ...each, ...range })) }
}

type Choice = Pick<CompletionItem, 'insertText' | 'attachment'>
type Source = (
  core: Core,
  session: Channel<'session'>,
  chat: Channel<'chat'>,
  word: string,
) => Promise<readonly Choice[]>

const sources: { readonly [T in Trigger]: Source } = {
  '@': async (core, session, chat, word) => {
    const { completionItems, completionMs, listings } = core.limits
    const directories = directoriesOf(core, session, chat).slice(0, listings)
    const lists = await Promise.all(
      directories.map(async (directory) => {
        const files = await withTimeout(core.world, completionMs, core.listings.of(directory), () => [])
        return best(files, word, completionItems).flatMap(({ item: { path }, score }) => {
          const item = fileChoice(directory, path, directories.length > 1)
          return item ? [{ item, score }] : []
        })
      }),
    )
    return lists.flat().toSorted(byScore).slice(0, completionItems).map(itemOf)
  },

  '#': async (core, session, chat, word) => {
    const { chats } = session.committedState
    const others = chats.filter(
      ({ resource, title, interactivity }) =>
        resource !== chat.uri && title !== '' && interactivity !== 'hidden',
    )
    const named = others.map(({ resource, title }) => ({ resource, title, folded: foldName(title) }))
    return best(named, word, core.limits.completionItems).map(({ item: { resource, title } }) => ({
      insertText: `#${title}`,
      attachment: { type: 'chat', resource, label: title } as const,
    }))
  },

  '/': async (core, session, _, word) => {
    const state = session.committedState
    const commands = await withTimeout(
      core.world,
      core.limits.completionMs,
      commandsOf(core, state),
      () => [],
    )
    const named = commands.map((command) => ({ ...command, folded: foldName(command.name) }))
    return best(named, word, core.limits.completionItems).map(({ item }) => commandChoice(item))
  },
}

/** Returns the directories that a chat works in and that may be read. */
function directoriesOf(core: Core, session: Channel<'session'>, chat: Channel<'chat'>): readonly string[] {
  const { workingDirectories: own } = chat.committedState
  const { workingDirectories: all = [] } = session.committedState
  return (own ?? all).flatMap((uri) => {
    try {
      return [containedPath(core, uri, 'read').path]
    } catch {
      return []
    }
  })
}

/** Returns the choice for a file; undefined where its path cannot be written as a URI, or contains a control character. */
function fileChoice(directory: string, path: string, several: boolean): Choice | undefined {
  const uri = uriOf(childOf(directory, path))
  if (uri === undefined) return undefined
  const label = several ? `${directory.slice(directory.lastIndexOf('/') + 1)}/${path}` : path
  return { insertText: `@${label}`, attachment: { type: 'resource', uri, label, displayKind: 'document' } }
}

function uriOf(path: string): Uri | undefined {
  if (/[\p{Cc}\p{Surrogate}]/u.test(path)) return undefined
  const uri = fileUri(path)
  return pathOf(uri).ok ? uri : undefined
}

function commandChoice({ name, description }: AgentCommand): Choice {
  const label = `/${name}`
  const about = { command: name, ...(description !== undefined && { description }) }
  return {
    insertText: label,
    attachment: { type: 'simple', label, displayKind: 'command', _meta: { 'x-atrium': about } },
  }
}

/** Returns the commands of an agent. They come from outside, so names of a wrong length are dropped. */
async function commandsOf(core: Core, session: SessionState): Promise<readonly AgentCommand[]> {
  try {
    const commands = (await agentOf(core, session.provider)?.commands?.(session)) ?? []
    return commands.filter(({ name }) => name !== '' && name.length <= core.limits.completionLength)
  } catch (error) {
    core.world.report('the commands of an agent could not be read', error)
    return []
  }
}

/** Prepares a name that is no path: its slashes must not count as separators. */
function foldName(text: string): string {
  return fold(text).replaceAll('/', ' ')
}

function byScore(a: Match<Choice>, b: Match<Choice>): number {
  if (a.score !== b.score) return a.score - b.score
  return a.item.insertText.length - b.item.insertText.length
}

function itemOf<T>({ item }: Match<T>): T {
  return item
}
