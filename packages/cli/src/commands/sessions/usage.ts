import type { Client } from '@atrium/client/client'
import { withTurns } from '@atrium/client/history'
import type { Uri } from '@atrium/protocol/channel'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import type { Turn } from '@atrium/protocol/chat/state'
import { pathOf } from '@atrium/protocol/file-uri'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { HostOptions } from '../../link/connect.ts'
import { withClient } from '../../link/with-client.ts'
import { table } from '../../render/table.ts'
import { allSessions } from '../../session/find.ts'
import { costText, noUsage, plus, usageOfTurns } from '../../session/usage.ts'
import type { Usage } from '../../session/usage.ts'
import { CommandError, exits } from '../../terminal/exit.ts'
import { output, sanitize } from '../../terminal/output.ts'
import type { OutputOptions } from '../../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly by?: string
  readonly days?: string
}

/** `atrium usage`: prints the tokens and the cost of the turns of the last days, by day, agent or folder. */
export function usage(flags: Flags): Promise<void> {
  const out = output(flags)
  const by = groupOf(flags.by ?? 'day')
  const days = daysOf(flags.days ?? '30')
  const since = firstDay(days)
  return withClient(flags, async (client) => {
    const groups = new Map<string, Usage>()
    for await (const { session, turn, used } of turnsSince(client, since, out.note)) {
      const name = groupNames[by](session, turn)
      groups.set(name, plus(groups.get(name) ?? noUsage, used))
    }
    const sorted = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))
    if (sorted.length === 0) return out.note(`No turn began in the last ${days} days.`)
    for (const [name, used] of sorted) out.printJson({ [by]: name, ...used })
    if (out.json) return
    const total = sorted.reduce((sum, [, used]) => plus(sum, used), noUsage)
    const header = [by.toUpperCase(), 'TURNS', 'INPUT', 'OUTPUT', 'CACHED', 'COST'].map(out.style.dim)
    const rows = sorted.map(([name, used]) => rowOf(name, used))
    out.print({}, () => table([header, ...rows, rowOf('total', total)]))
  })
}

/** How turns are grouped. Days are those of this machine's time zone. */
const groupNames = {
  day: (_: SessionSummary, { startedAt = '' }: Turn) => dayOf(new Date(startedAt)),
  agent: ({ provider }: SessionSummary) => sanitize(provider),
  folder: ({ workingDirectories: [first] = [] }: SessionSummary) => {
    const folder = first === undefined ? undefined : pathOf(first)
    return sanitize(folder?.ok ? folder.path : (first ?? '-'))
  },
}
type Group = keyof typeof groupNames

interface UsedTurn {
  readonly session: SessionSummary
  readonly turn: Turn
  readonly used: Usage
}

/** The turns that began on the day `since` or later. A turn that was copied into a fork is counted once. */
async function* turnsSince(
  client: Client,
  since: string,
  note: (text: string) => void,
): AsyncGenerator<UsedTurn> {
  const counted = new Set<string>()
  for (const session of await allSessions(client)) {
    if (dayOf(new Date(session.modifiedAt)) < since) continue
    const chats = session.chats?.map(({ resource }) => resource) ?? [defaultChatUri(session.resource)]
    for (const chat of chats) {
      const turns = await newestTurns(client, chat, since).catch((error: unknown) => {
        if (!(error instanceof AhpError)) throw error
        // A session that is not found was disposed of meanwhile.
        if (error.code !== errorCodes.SessionNotFound && error.code !== errorCodes.NotFound)
          note(`${sanitize(session.title)}: ${sanitize(error.message)} It is not counted.`)
        return []
      })
      const used = usageOfTurns(turns)
      for (const [at, turn] of turns.entries()) {
        // A copy keeps the id and the time of its turn. The id alone is not enough: it is unique only in a chat.
        const key = `${turn.id} ${turn.startedAt}`
        if (counted.has(key) || !isSince(turn, since)) continue
        counted.add(key)
        yield { session, turn, used: used[at] ?? noUsage }
      }
    }
  }
}

/** Reads the newest turns of a chat, back to a turn from before `since`. If there is no such turn, reads all turns. */
async function newestTurns(client: Client, uri: Uri, since: string): Promise<readonly Turn[]> {
  const chat = client.subscribe('chat', uri)
  try {
    for (let wanted = 1; ; wanted *= 2) {
      const { turns, turnsNextCursor } = await withTurns(client, chat, wanted)
      const [first] = turns
      if (turnsNextCursor === undefined || (first && !isSince(first, since))) return turns
    }
  } finally {
    chat.release()
  }
}

function isSince({ startedAt }: Turn, since: string): boolean {
  return startedAt !== undefined && dayOf(new Date(startedAt)) >= since
}

function rowOf(name: string, { turns, inputTokens, outputTokens, cacheReadTokens, cost }: Usage) {
  const costs = Object.entries(cost).map(([currency, amount]) => `${costText(amount)} ${sanitize(currency)}`)
  const counts = [turns, inputTokens, outputTokens, cacheReadTokens].map((count) =>
    count.toLocaleString('en'),
  )
  return [name, ...counts, costs.join(', ') || '-']
}

/** The date of the first of the last `days` days. Today is the last one. */
function firstDay(days: number): string {
  const today = new Date()
  return dayOf(new Date(today.getFullYear(), today.getMonth(), today.getDate() - (days - 1)))
}

/** A date like 2026-01-31. */
function dayOf(date: Date): string {
  const two = (number: number) => String(number).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

function groupOf(text: string): Group {
  if (text === 'day' || text === 'agent' || text === 'folder') return text
  throw new CommandError(`--by must be day, agent or folder, and not '${text}'.`, exits.usage)
}

function daysOf(text: string): number {
  const days = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (days > 0) return days
  throw new CommandError(`--days must be a whole number from 1 to 99999, and not '${text}'.`, exits.usage)
}
