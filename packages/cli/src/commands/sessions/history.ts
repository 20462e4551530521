import type { Client } from '@atrium/client/client'
import { pastEnvelopes, stateAt } from '@atrium/client/past'
import type { PastPage, PastRange } from '@atrium/client/past'
import type { Envelope, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { decisionOf } from '@atrium/host/access/decision'
import type { HostOptions } from '../../link/connect.ts'
import { withClient } from '../../link/with-client.ts'
import { actionLine, turnLines } from '../../render/log.ts'
import { findTarget } from '../../session/find.ts'
import { CommandError, exits } from '../../terminal/exit.ts'
import { localTime } from '../../terminal/local-time.ts'
import { output } from '../../terminal/output.ts'
import type { Output, OutputOptions } from '../../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly at?: string
  readonly number?: string
}

/**
 * `atrium history`: prints the past actions of a chat, or with `--at` the turns that the chat had after one of them.
 */
export function history(name: string | undefined, flags: Flags): Promise<void> {
  const out = output(flags)
  const at = flags.at === undefined ? undefined : numberOf('--at', flags.at)
  const most = flags.number === 'all' ? Infinity : numberOf('--number', flags.number ?? '50')
  return withClient(flags, async (client) => {
    const { chat } = await findTarget(client, name ?? 'last')
    try {
      if (at === undefined) await printActions(client, chat, most, out)
      else await printTurns(client, chat, await sequenceNumber(client, chat, at), out)
    } catch (error) {
      throw error instanceof AhpError ? new CommandError(wordsOf(error)) : error
    }
  })
}

const pageSize = 500

/** Prints the newest actions, page by page. */
async function printActions(client: Client, channel: Uri, most: number, out: Output): Promise<void> {
  const range = await pastEnvelopes(client, { channel, limit: 1 })
  noteMissing(range, out)
  if (range.total === 0) out.note('There are no actions to show.')
  const first = Math.max(1, range.total - most + 1)
  if (first > 1) out.note(`There are ${range.total} actions; all are shown with -n all.`)
  let position = first
  for (
    let page: PastPage | undefined;
    page?.more ?? position <= range.total;
    position += page.envelopes.length
  ) {
    page = await pastEnvelopes(client, { channel, position, limit: Math.min(pageSize, most) })
    const gaps = new Set(page.gaps.map(({ before }) => before))
    for (const [index, envelope] of page.envelopes.entries()) {
      if (gaps.has(envelope.serverSeq)) out.note('Turns were removed from the chat here, and are not shown:')
      const number = position + index
      out.print({ kind: 'action', number, ...envelope }, () =>
        actionLine(String(number), envelope, timeOf(envelope), out.style),
      )
    }
  }
}

/**
 * Returns the sequence number of an action by the number that `history` shows, which is its position. A number of `--json`
 * (`serverSeq`) is above every position, and is taken as it is.
 */
async function sequenceNumber(client: Client, channel: Uri, number: number): Promise<number> {
  const page = await pastEnvelopes(client, { channel, position: Math.min(number, 1e9), limit: 1 })
  if (number >= page.begins) return number
  const [envelope] = page.envelopes
  if (number <= page.total && envelope) return envelope.serverSeq
  const there = page.total === 0 ? 'has no actions to show' : `has the actions 1 to ${page.total}`
  throw new CommandError(`There is no action ${number}: the chat ${there}; see them with: atrium history`)
}

/** Prints the turns that a chat had. */
async function printTurns(client: Client, channel: Uri, seq: number, out: Output): Promise<void> {
  const turns = []
  let active: ChatState['activeTurn']
  for (let before: string | undefined; ;) {
    const answer = await stateAt<ChatState>(client, { channel, seq, ...(before !== undefined && { before }) })
    const { snapshot, older, hidden } = answer
    if (!snapshot)
      throw new CommandError(
        hidden === 'forgotten'
          ? 'This action was forgotten, as the retention of the host asks; later ones are in: atrium history'
          : 'The turns of that time were removed from the chat; what is left is in: atrium history',
      )
    if (before === undefined) {
      noteMissing(answer, out)
      active = snapshot.state.activeTurn
    }
    turns.unshift(...snapshot.state.turns)
    before = older
    if (before === undefined) break
  }
  const all = active ? [...turns, active] : turns
  if (all.length === 0) out.note('The chat had no turns.')
  for (const [index, turn] of all.entries())
    out.print({ kind: 'turn', chat: channel, number: index + 1, turn }, () =>
      turnLines(turn, index + 1, out.style),
    )
}

function noteMissing({ forgottenTo, truncatedTo }: PastRange, out: Output): void {
  if (forgottenTo !== undefined)
    out.note('Earlier actions were forgotten, as the retention of the host asks.')
  if (truncatedTo !== undefined) out.note('What was before was removed from the chat, and is not shown.')
}

/** The time of an action. Only some actions have one. */
function timeOf({ action }: Envelope): string {
  const decision = decisionOf(
    action,
    action.type === 'chat/toolCallConfirmed' ? 'decidedBy' : 'resultDecidedBy',
  )
  const decided = decision && 'at' in decision ? decision.at : undefined
  const time = 'startedAt' in action ? action.startedAt : decided
  return typeof time === 'string' ? localTime(time) : ''
}

function wordsOf({ code, message }: AhpError): string {
  if (code === errorCodes.MethodNotFound) return 'This host does not show the past: its version is older.'
  const words = message.replace(/^x-atrium\/\w+: (.)/, (_, first: string) => first.toUpperCase())
  return /[.!?]$/.test(words) ? words : `${words}.`
}

function numberOf(flag: string, text: string): number {
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) && Number(text) > 0) return Number(text)
  throw new CommandError(`${flag} must be a whole number above 0, and not '${text}'.`, exits.usage)
}
