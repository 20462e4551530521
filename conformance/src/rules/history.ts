import { randomUUID } from 'node:crypto'
import type { Snapshot } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { errorCodes } from '@atrium/protocol/errors'
import { actionOf } from '../kit/action.ts'
import { Skipped, check, same } from '../kit/check.ts'
import type { Client } from '../kit/client.ts'
import { fold } from '../kit/fold.ts'
import type { Kit } from '../kit/kit.ts'
import { beginningWith } from '../kit/rule.ts'
import type { Topic } from '../kit/rule.ts'
import { inConversation, openConversation } from '../kit/conversation.ts'
import type { Conversation } from '../kit/conversation.ts'

/** More pages than two turns can need. */
const mostPages = 100

export const history: Topic = {
  name: 'history',
  rules: [
    {
      id: 'K140',
      title: 'a subscription without view.turns returns all turns of a chat',
      source: 'subscriptions: without view.turns every stored turn is returned',
      run: beginningWith(withTwoTurns)(async ({ conversation, made }) => {
        same('the turns', made, idsOf((await conversation.freshState()).turns, made))
      }),
    },
    {
      id: 'K141',
      title: 'a snapshot that leaves out older turns has a cursor',
      source: 'chats: turnsNextCursor is present while older turns are missing',
      run: beginningWith(withTwoTurns)(async ({ conversation, made }, kit) => {
        const { state } = await lastTurnOnly(kit, conversation, made)
        check(state.turnsNextCursor !== undefined, 'a turnsNextCursor', idsOf(state.turns, made))
      }),
    },
    {
      id: 'K142',
      title: 'fetchTurns delivers older turns before its response, until all are there, each once',
      source: 'fetchTurns: chat/turnsLoaded comes first; paging: a cursor leads to the next page',
      run: beginningWith(withTwoTurns)(async ({ conversation, made }, kit) => {
        const { client, state, start } = await lastTurnOnly(kit, conversation, made)
        if (state.turnsNextCursor === undefined) throw new Skipped('the host issues no cursor to older turns')
        let now = state
        for (let page = 1; now.turnsNextCursor !== undefined; page++) {
          check(page <= mostPages, `all turns within ${mostPages} pages`, now.turnsNextCursor)
          await client.mustSucceed('fetchTurns', { channel: conversation.chat, cursor: now.turnsNextCursor })
          const received = client.envelopesBeforeResponse()
          const loaded = received.filter(({ action }) => action.type === 'chat/turnsLoaded')
          check(loaded.length >= page, 'chat/turnsLoaded before the response', 'the response first')
          now = fold('chat', start, received)
        }
        same('the turns', made, idsOf(now.turns, made))
      }),
    },
    {
      id: 'K143',
      title: 'a turn cursor that the host has not issued is refused with -32602',
      source: 'fetchTurns: invalid cursors',
      run: inConversation(async ({ client, chat }) => {
        const params = { channel: chat, cursor: `conformance ${randomUUID()}` }
        const { InvalidParams, MethodNotFound } = errorCodes
        const { code } = await client.mustFail('fetchTurns', params, InvalidParams, MethodNotFound)
        if (code === MethodNotFound) throw new Skipped('the host does not serve fetchTurns')
      }),
    },
    {
      id: 'K144',
      title: 'a client without older turns receives them before the chat is truncated at one of them',
      source: 'chats: older turns are loaded before an action names one of them',
      run: beginningWith(withTwoTurns)(async ({ conversation, made }, kit) => {
        const { client, start } = await lastTurnOnly(kit, conversation, made)
        const cut = actionOf('chat/truncated', { turnId: made[0] })
        const { serverSeq } = await client.receives(await conversation.mustAccept(cut))
        const now = fold('chat', start, client.envelopes, serverSeq)
        same('the turns', made.slice(0, 1), idsOf(now.turns, made))
      }),
    },
  ],
}

/** A chat with two turns. In a chat with fewer turns, a view of one turn would leave nothing out. */
async function withTwoTurns(kit: Kit): Promise<{ conversation: Conversation; made: readonly string[] }> {
  const conversation = await openConversation(kit)
  return { conversation, made: [await conversation.runTurn(), await conversation.runTurn()] }
}

interface View {
  readonly client: Client
  readonly start: Snapshot
  readonly state: ChatState
}

/**
 * Opens the chat with a client that asks for the last turn only. The rule is skipped if the host returns all turns.
 */
async function lastTurnOnly(kit: Kit, { chat }: Conversation, made: readonly string[]): Promise<View> {
  const client = await kit.join()
  const start = await client.subscribe(chat, { view: { turns: 1 } })
  const state = fold('chat', start, [])
  if (state.turns.length >= made.length) throw new Skipped('the host returns all turns, whatever the view')
  return { client, start, state }
}

/** The ids of those turns that the rule itself has made. */
function idsOf(turns: ChatState['turns'], made: readonly string[]): readonly string[] {
  return turns.map(({ id }) => id).filter((id) => made.includes(id))
}
