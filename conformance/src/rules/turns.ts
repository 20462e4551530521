import type { Action, Envelope } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import { checkAction } from '@atrium/protocol/kind'
import { Skipped, check, same } from '../kit/check.ts'
import { fold, sameState } from '../kit/fold.ts'
import type { Topic } from '../kit/rule.ts'
import { promptText, talkOf } from '../kit/talk.ts'
import type { Talk } from '../kit/talk.ts'

/** What is answered, and whether it is an error, is up to the agent: nothing here depends on it. */
export const turns: Topic = {
  name: 'turns',
  rules: [
    {
      id: 'K120',
      title: "a client's turn comes back with its origin and its message, and is in the chat",
      source: 'actions: an echo names its origin; chat/turnStarted',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        const turnId = await talk.begin()
        const echo = await talk.fate(turnId)
        same('whose it is', talk.client.clientId, echo.origin?.clientId)
        const { activeTurn } = talk.state(echo.serverSeq)
        same('the turn that runs', turnId, activeTurn?.id)
        same('its message', promptText, activeTurn?.message.text)
      },
    },
    {
      id: 'K121',
      title: 'a turn ends exactly once, after a duration that is not negative',
      source:
        'chats: chat/turnComplete, chat/turnCancelled or chat/error end a turn and say how long it took',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        const turnId = await talk.begin()
        const { action } = await talk.mustEnd(turnId)
        const { duration } = action as Action & { duration?: unknown }
        check(typeof duration === 'number' && duration >= 0, 'a duration of at least 0', action)
        await talk.client.retitle(talk.session)
        same('ends', 1, talk.ends(turnId).length)
        const { activeTurn, turns: past } = talk.state()
        check(activeTurn?.id !== turnId, 'the turn not to run any more', activeTurn)
        same('how often it is in the chat', 1, past.filter(({ id }) => id === turnId).length)
      },
    },
    {
      id: 'K122',
      title: 'nothing more is said of a turn that has ended',
      source: 'chats: an action of a turn names the one that runs',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        const turnId = await talk.turn()
        await talk.turn()
        same('what was said of it later', [], later(talk, turnId))
      },
    },
    {
      id: 'K123',
      title: 'a part is made before text is added to it',
      source: 'chats: chat/responsePart comes before chat/delta and chat/reasoning',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        await talk.turn()
        const texts = talk.said().filter(({ action }) => action.type in partOf)
        if (texts.length === 0) throw new Skipped('nothing in the answer was added to a part')
        for (const { serverSeq, action } of texts) {
          const { type, partId } = action as Action & { partId: string }
          const { activeTurn } = talk.state(serverSeq - 1)
          // What is said of a turn that does not run is another rule.
          if (activeTurn?.id !== action.turnId) continue
          const found = activeTurn?.responseParts.find((part) => 'id' in part && part.id === partId)
          same(`the kind of the part that ${type} names`, partOf[type], found?.kind)
        }
      },
    },
    {
      id: 'K124',
      title: 'a turn that is cancelled is over, and the next one can begin',
      source: 'chats: chat/turnCancelled ends the turn that runs',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        const turnId = talk.prompt()
        const cancel = talk.dispatch({ type: 'chat/turnCancelled', turnId, duration: 0 } as Action)
        const { rejectionReason } = await talk.client.outcome(cancel)
        if (rejectionReason) throw new Skipped('the turn was over before it could be cancelled')
        same('how it ended', 'cancelled', talk.state().turns.at(-1)?.state)
        await talk.turn()
        same('ends', 1, talk.ends(turnId).length)
        same('what was said of it later', [], later(talk, turnId))
      },
    },
    {
      id: 'K125',
      title: 'what is said in a turn has its shape',
      source: 'the shape of each action on a chat',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        await talk.turn()
        for (const { action } of talk.said()) {
          const checked = checkAction(kinds.chat, action)
          check(checked.ok, `the shape of ${action.type}`, action)
        }
      },
    },
    {
      id: 'K126',
      title: 'everyone is told the same turn, and ends with the state that a later subscriber gets',
      source: 'actions are the only change of a state, and everyone reduces alike',
      needs: 'session',
      async run(kit) {
        const ann = await talkOf(kit)
        const ben = await ann.joined()
        const turnId = await ann.turn()
        await ben.ended(turnId)
        const last = await ben.client.hears(await ann.client.retitle(ann.session))
        same('what the other was told', until(ann, last), until(ben, last))
        const late = await ann.joined()
        sameState('chat', 'the folded state', ann.state(late.start.fromSeq), late.start.state)
      },
    },
    {
      id: 'K127',
      title: 'who joins while a turn runs ends with the state of who was there',
      source: 'subscriptions: a snapshot and what follows it leave no gap',
      needs: 'session',
      async run(kit) {
        const ann = await talkOf(kit)
        const turnId = await ann.begin()
        await something(ann, turnId)
        const ben = await ann.joined()
        await ann.ended(turnId)
        const last = await ben.client.hears(await ann.client.retitle(ann.session))
        sameState('chat', 'the state of who was there', ann.state(last.serverSeq), ben.state(last.serverSeq))
      },
    },
    {
      id: 'K128',
      title: 'who comes back while a turn runs ends with the state of who stayed',
      source: 'reconnect: nothing is lost and nothing applied twice',
      needs: 'session',
      async run(kit) {
        const ann = await talkOf(kit)
        const ben = await ann.joined()
        const turnId = await ann.begin()
        await something(ben, turnId)
        ben.client.cut()
        // Something is missed, however fast the agent is.
        await ann.client.change(ann.chat, { type: 'chat/isArchivedChanged', isArchived: true } as Action)
        const seen = Math.max(ben.start.fromSeq, ...ben.client.envelopes.map(({ serverSeq }) => serverSeq))
        const back = await kit.again(ben.client)
        const result = await back.reconnect(seen, [ann.session, ann.chat])
        await ann.ended(turnId)
        const last = await back.hears(await ann.client.retitle(ann.session))
        const given = result.type === 'snapshot' ? result.snapshots : []
        const start = given.find(({ resource }) => resource === ann.chat) ?? ben.start
        const replayed = result.type === 'replay' ? [...ben.client.envelopes, ...result.actions] : []
        const came = fold('chat', start, once([...replayed, ...back.envelopes]), last.serverSeq)
        sameState('chat', 'the state of who stayed', ann.state(last.serverSeq), came)
      },
    },
  ],
}

const partOf: { readonly [type: string]: string } = {
  'chat/delta': 'markdown',
  'chat/reasoning': 'reasoning',
}

/** Waits until the agent has said something, or was done without a word. */
function something(talk: Talk, turnId: string): Promise<unknown> {
  return talk.client
    .until('anything of the turn', () => about(talk, turnId).find(({ action }) => !begins(action)))
    .catch(() => undefined)
}

function about(talk: Talk, turnId: string): readonly Envelope[] {
  return talk.said().filter(({ action }) => action.turnId === turnId)
}

function begins({ type }: Action): boolean {
  return type === 'chat/turnStarted'
}

/** What was said of a turn after its end, but for ends: those are counted. */
function later(talk: Talk, turnId: string): readonly Envelope[] {
  const all = talk.ends(turnId)
  const end = all[0]?.serverSeq ?? Infinity
  return about(talk, turnId).filter((envelope) => envelope.serverSeq > end && !all.includes(envelope))
}

/** But for text, of which a host may make one out of several. */
function until(talk: Talk, { serverSeq: last }: Envelope): readonly Envelope[] {
  return talk
    .said()
    .filter(({ serverSeq }) => serverSeq > talk.start.fromSeq && serverSeq <= last)
    .filter(({ action }) => kinds.chat.classes.get(action.type) !== 'relaxed')
}

/** Whoever comes back takes no number twice. */
function once(envelopes: readonly Envelope[]): readonly Envelope[] {
  return [...new Map(envelopes.map((envelope) => [envelope.serverSeq, envelope])).values()].toSorted(
    (a, b) => a.serverSeq - b.serverSeq,
  )
}
