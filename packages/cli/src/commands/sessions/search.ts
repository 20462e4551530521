import { resolve } from 'node:path'
import type { Client } from '@atrium/client/client'
import type { Uri } from '@atrium/protocol/channel'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { fileUri } from '@atrium/protocol/file-uri'
import { rootUri } from '@atrium/protocol/uri'
import type { HostOptions } from '../../link/connect.ts'
import { withClient } from '../../link/with-client.ts'
import { foundText } from '../../render/found-text.ts'
import type { SearchItem } from '../../render/found-text.ts'
import { allSessions, shortName, shortNames } from '../../session/find.ts'
import { CommandError, exits } from '../../terminal/exit.ts'
import { output } from '../../terminal/output.ts'
import type { Output, OutputOptions } from '../../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly folder?: string
  readonly agent?: string
  readonly since?: string
  readonly number?: string
  readonly rebuild?: boolean
}

/** What a host answers to `x-atrium/search`. */
interface SearchPage {
  readonly items: readonly SearchItem[]
  readonly nextCursor?: string
  readonly pending?: number
}

/** `atrium search`: finds words in the messages, answers and titles of all sessions, the newest first. */
export function search(words: readonly string[], flags: Flags): Promise<void> {
  const out = output(flags)
  if (flags.rebuild) return withClient(flags, (client) => rebuild(client, out))
  if (words.length === 0)
    throw new CommandError('Name at least one word to search for: atrium search login', exits.usage)
  const most = countOf(flags.number ?? '20')
  const query = {
    query: words.map(phraseOf).join(' '),
    ...(flags.folder !== undefined && { folder: fileUri(resolve(flags.folder)) }),
    ...(flags.agent !== undefined && { provider: flags.agent }),
    ...(flags.since !== undefined && { since: timeOf(flags.since) }),
  }
  return withClient(flags, async (client) => {
    const { items, more, pending } = await pages(
      client,
      query,
      most,
      out.json ? () => true : oncePerMessage(),
    )
    const names = items.length === 0 || out.json ? undefined : await namesOf(client)
    for (const item of items)
      out.print(item, () => foundText(item, names?.(item) ?? shortName(item.session), out.style))
    if (items.length === 0) out.note('Nothing was found.')
    if (more) out.note(`There is more: show it with -n ${Math.min(most * 5, 99_999)}.`)
    if (pending > 0)
      out.note(
        `${pending === 1 ? 'One session is' : `${pending} sessions are`} not indexed yet, so something may be missing.`,
      )
  })
}

/**
 * Returns whether a text is the first one of its message. A message is found several times if several of its parts match, and
 * also as the title that was made from it.
 */
function oncePerMessage(): (item: SearchItem) => boolean {
  const seen = new Set<string>()
  return ({ session, turnId = '', who, title, excerpt: { text } }) => {
    const words = text.replaceAll(/\s+/g, ' ').replace(/…$/, '')
    const begins = title.replace(/…$/, '').replaceAll(/\s+/g, ' ')
    if (who === 'user' && words.startsWith(begins.slice(0, words.length))) seen.add(`${session} title`)
    const key =
      who === 'title' ? `${session} title` : [session, turnId, who, who === 'tool' ? text : ''].join(' ')
    return !seen.has(key) && seen.add(key).has(key)
  }
}

/** Reads pages until there are `most` texts, or no more pages. */
async function pages(
  client: Client,
  query: object,
  most: number,
  wanted: (item: SearchItem) => boolean,
): Promise<{ items: readonly SearchItem[]; more: boolean; pending: number }> {
  const items: SearchItem[] = []
  for (let cursor: string | undefined; ;) {
    const limit = Math.min(100, most - items.length)
    const params = { ...query, limit, ...(cursor !== undefined && { cursor }) }
    // The answer is not checked: a host of the same build answers in this shape.
    const page = (await ask(client, 'x-atrium/search', params)) as SearchPage
    items.push(...page.items.filter(wanted))
    cursor = page.nextCursor
    if (cursor === undefined || items.length >= most)
      return { items, more: cursor !== undefined, pending: page.pending ?? 0 }
  }
}

async function rebuild(client: Client, out: Output): Promise<void> {
  await ask(client, 'x-atrium/rebuildSearch', {})
  out.report({ rebuilding: true }, () => 'The search index is built again, in the background.')
}

/** Sends a request that AHP does not have, so nothing is known of its result. */
async function ask(client: Client, method: string, params: object): Promise<unknown> {
  try {
    return await client.ask(method, { channel: rootUri, ...params })
  } catch (error) {
    if (!(error instanceof AhpError)) throw error
    if (error.code === errorCodes.MethodNotFound)
      throw new CommandError('This host does not offer a search: it is older, or has no search index.')
    const sentence = error.message.replace(/^(?:x-atrium\/search: )?(.)/, (_, first: string) =>
      first.toUpperCase(),
    )
    throw new CommandError(/[.!?]$/.test(sentence) ? sentence : `${sentence}.`)
  }
}

/**
 * Returns a function that gives the short name of a found text, as other commands take it: the name of its session,
 * or of its chat if that is not the default chat.
 */
async function namesOf(client: Client): Promise<(item: SearchItem) => string | undefined> {
  const sessions = await allSessions(client)
  const uris = sessions.flatMap(({ resource, chats = [] }) => [
    resource,
    ...chats.map((chat) => chat.resource),
  ])
  const names = shortNames(uris)
  const defaults = new Set<Uri | undefined>(sessions.map(({ defaultChat }) => defaultChat))
  return ({ session, chat }) => names.get(chat === undefined || defaults.has(chat) ? session : chat)
}

/**
 * Puts an argument of several words into quotation marks, which the shell has removed. A single word stays as it is.
 */
function phraseOf(word: string): string {
  return /\s/.test(word) && !word.includes('"') ? `"${word}"` : word
}

const units: { readonly [unit: string]: number } = { m: 60, h: 3600, d: 86_400, w: 7 * 86_400 }

/** The time of `--since`: an age such as 7d, or a date. */
function timeOf(text: string): string {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? []
  const time =
    count === undefined
      ? Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text)
      : Date.now() - Number(count) * (units[unit] ?? 0) * 1000
  if (Number.isNaN(time) || !/^\d/.test(text))
    throw new CommandError(
      `--since must be an age like 7d, 12h or 2w, or a date, and not '${text}'.`,
      exits.usage,
    )
  return new Date(time).toISOString()
}

function countOf(text: string): number {
  const count = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (count > 0) return count
  throw new CommandError(`--number must be a whole number from 1 to 99999, and not '${text}'.`, exits.usage)
}
