import { randomUUID } from 'node:crypto'
import type { Action, Snapshot } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { errorCodes } from '@atrium/protocol/errors'
import { Skipped, check, same } from '../kit/check.ts'
import type { Client } from '../kit/client.ts'
import { fold } from '../kit/fold.ts'
import type { Kit } from '../kit/kit.ts'
import type { Topic } from '../kit/rule.ts'
import { talkOf } from '../kit/talk.ts'
import type { Talk } from '../kit/talk.ts'

/** More than two turns can need. */
const mostPages = 100

export const history: Topic = {
  name: 'history',
  rules: [
    {
      id: 'K140',
      title: 'who asks for no part of a chat gets all of its turns',
      source: 'subscriptions: without view.turns every turn that is kept comes back',
      needs: 'session',
      async run(kit) {
        const { talk, made } = await talked(kit)
        same('the turns', made, idsOf((await talk.fresh()).turns, made))
      },
    },
    {
      id: 'K141',
      title: 'turns that are left out of a snapshot are announced by its cursor',
      source: 'chats: turnsNextCursor is there while older turns are not',
      needs: 'session',
      async run(kit) {
        const { talk, made } = await talked(kit)
        const { state } = await viewed(kit, talk, made)
        check(state.turnsNextCursor !== undefined, 'a turnsNextCursor', idsOf(state.turns, made))
      },
    },
    {
      id: 'K142',
      title: 'fetchTurns brings older turns before its answer, until all are there, each once',
      source: 'fetchTurns: chat/turnsLoaded comes first; paging: a cursor leads to what comes next',
      needs: 'session',
      async run(kit) {
        const { talk, made } = await talked(kit)
        const { client, state, start } = await viewed(kit, talk, made)
        if (state.turnsNextCursor === undefined) throw new Skipped('the host gives no cursor to older turns')
        let now = state
        for (let asked = 1; now.turnsNextCursor !== undefined; asked++) {
          check(asked <= mostPages, `turns that are all there within ${mostPages} pages`, now.turnsNextCursor)
          await client.must('fetchTurns', { channel: talk.chat, cursor: now.turnsNextCursor })
          const told = client.toldBeforeAnswer()
          const loaded = told.filter(({ action }) => action.type === 'chat/turnsLoaded')
          check(loaded.length >= asked, 'chat/turnsLoaded, and then the answer', 'the answer first')
          now = fold('chat', start, told) as ChatState
        }
        same('the turns', made, idsOf(now.turns, made))
      },
    },
    {
      id: 'K143',
      title: 'a cursor of turns that the host has not given is refused with -32602',
      source: 'fetchTurns: bad cursors',
      needs: 'session',
      async run(kit) {
        const { client, chat } = await talkOf(kit)
        const params = { channel: chat, cursor: `conformance ${randomUUID()}` }
        const { InvalidParams, MethodNotFound } = errorCodes
        const { code } = await client.refused('fetchTurns', params, InvalidParams, MethodNotFound)
        if (code === MethodNotFound) throw new Skipped('the host does not serve fetchTurns')
      },
    },
    {
      id: 'K144',
      title: 'who has not seen a turn is shown it before the chat is cut off there',
      source: 'chats: older turns are loaded before anything names one of them',
      needs: 'session',
      async run(kit) {
        const { talk, made } = await talked(kit)
        const { client, start } = await viewed(kit, talk, made)
        const cut = { type: 'chat/truncated', turnId: made[0] } as Action
        const { serverSeq } = await client.hears(await talk.client.change(talk.chat, cut))
        const now = fold('chat', start, client.envelopes, serverSeq) as ChatState
        same('the turns', made.slice(0, 1), idsOf(now.turns, made))
      },
    },
  ],
}

/** Two turns: the least of which a part can be left out. */
async function talked(kit: Kit): Promise<{ talk: Talk; made: readonly string[] }> {
  const talk = await talkOf(kit)
  return { talk, made: [await talk.turn(), await talk.turn()] }
}

interface Viewed {
  readonly client: Client
  readonly start: Snapshot
  readonly state: ChatState
}

/** The chat by a client that asks for its last turn alone. A host may give more. */
async function viewed(kit: Kit, { chat }: Talk, made: readonly string[]): Promise<Viewed> {
  const client = await kit.join()
  const start = await client.subscribe(chat, { view: { turns: 1 } })
  const state = start.state as ChatState
  if (state.turns.length >= made.length) throw new Skipped('the host gives all turns, whatever the view')
  return { client, start, state }
}

/** Which of the turns that were made are here. */
function idsOf(turns: ChatState['turns'], made: readonly string[]): readonly string[] {
  return turns.map(({ id }) => id).filter((id) => made.includes(id))
}
