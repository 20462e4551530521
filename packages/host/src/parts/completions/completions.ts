import { customizationsOf } from '../../catalog/customizing.ts'
import type { CompletionItem } from '@atrium/protocol/chat/commands'
import type { Params, Result } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import type { SessionState } from '@atrium/protocol/session/state'
import { agentOf } from '../agents/agents.ts'
import { sessionOf } from '../../catalog/lookup.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import { best, fold } from '../listings/fuzzy-match.ts'
import type { Match } from '../listings/fuzzy-match.ts'
import { withTimeout } from '../../kernel/timeout.ts'
import type { AgentCommand } from '../../ports/agent.ts'
import { commandsOf as customizedCommands } from '../../plugins/customized.ts'
import { filesAndFoldersOf, filesOf, pathMatches } from './paths.ts'
import type { Choice, CompletionContext, Found } from './paths.ts'
import { typedAt } from './typed.ts'
import type { Trigger } from './typed.ts'

/**
 * Returns the completions of the word before the cursor. A source that fails or takes too long contributes nothing; the
 * completions of the other sources are still returned. If a source took too long, the answer says that it is incomplete.
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
  const found = await sources[typed.trigger]({ core, session, chat }, typed.word)
  const range = { rangeStart: typed.start, rangeEnd: offset }
  const items = found.matches.map((each): CompletionItem => ({ ...each, ...range }))
  return found.complete ? { items } : { items, ...incomplete }
}

/** A mark of this host. AHP has none, and a client that does not know it shows what there is. */
const incomplete = { _meta: { 'x-atrium': { incomplete: true } } }

type Source = (context: CompletionContext, word: string) => Promise<Found<Choice>>

const sources: { readonly [T in Trigger]: Source } = {
  '@': async (context, word) => {
    const { matches, complete } = await pathMatches(context, word, filesOf)
    return { matches: ranked(context, matches), complete }
  },

  '#': async (context, word) => {
    const paths = await pathMatches(context, word, filesAndFoldersOf)
    const all = ranked(context, [...chatMatches(context, word), ...paths.matches])
    const matches = all.map(({ insertText, attachment }) => ({
      insertText: `#${insertText.slice(1)}`,
      attachment,
    }))
    return { matches, complete: paths.complete }
  },

  '/': async ({ core, session }, word) => {
    const { completionMs, completionItems } = core.limits
    const asked: Promise<readonly AgentCommand[] | undefined> = allCommands(core, session)
    const commands = await withTimeout(core.world, completionMs, asked, () => undefined)
    const named = (commands ?? []).map((command) => ({ ...command, folded: foldName(command.name) }))
    const matches = best(named, word, completionItems).map(({ item }) => commandChoice(item))
    return { matches, complete: commands !== undefined }
  },
}

/** Finds the other chats of the session whose titles match a word. */
function chatMatches({ core, session, chat }: CompletionContext, word: string): readonly Match<Choice>[] {
  const others = session.committedState.chats.filter(
    ({ resource, title, interactivity }) =>
      resource !== chat.uri && title !== '' && interactivity !== 'hidden',
  )
  const named = others.map(({ resource, title }) => ({ resource, title, folded: foldName(title) }))
  return best(named, word, core.limits.completionItems).map(({ item: { resource, title }, score }) => ({
    item: { insertText: `#${title}`, attachment: { type: 'chat', resource, label: title } },
    score,
  }))
}

/**
 * Returns the choices with the best scores, the best first. Among equal scores, the one that inserts the shortest
 * text comes first.
 */
function ranked({ core }: CompletionContext, matches: readonly Match<Choice>[]): readonly Choice[] {
  return matches
    .toSorted((a, b) => a.score - b.score || a.item.insertText.length - b.item.insertText.length)
    .slice(0, core.limits.completionItems)
    .map(({ item }) => item)
}

/**
 * Returns the choice that inserts a command. VS Code shows a command only if `_meta` has the member `command`, and
 * also reads the member `description`.
 */
function commandChoice({ name, description }: AgentCommand): Choice {
  const label = `/${name}`
  const about = { command: name, ...(description !== undefined && { description }) }
  return {
    insertText: label,
    attachment: { type: 'simple', label, displayKind: 'command', _meta: about },
  }
}

/**
 * The commands of the agent, then those of the session's customizations. Of two commands with the same name, the first counts.
 */
async function allCommands(core: Core, session: Channel<'session'>): Promise<readonly AgentCommand[]> {
  const [own, components] = await Promise.all([
    commandsOf(core, session.committedState),
    customizationsOf(core)?.components(session.uri) ?? [],
  ])
  const others = customizedCommands(components).filter(({ name }) => own.every((one) => one.name !== name))
  return [...own, ...others]
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

/**
 * Converts a name that is no path to the text that is searched. Its slashes must not count as separators of a path.
 */
function foldName(text: string): string {
  return fold(text).replaceAll('/', ' ')
}
