import { randomUUID } from 'node:crypto'
import type { Action } from '@atrium/protocol/channel'
import type { ChatInputRequest } from '@atrium/protocol/chat/request'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionInputRequest, SessionState } from '@atrium/protocol/session/state'
import { answerTo, answersTo, plainest } from '../kit/answer.ts'
import { Skipped, check, same } from '../kit/check.ts'
import { fold } from '../kit/fold.ts'
import type { Topic } from '../kit/rule.ts'
import * as ask from '../kit/waiting.ts'
import type { WaitingForm } from '../kit/waiting.ts'

/** What an agent asks people. Which answers it wants is its own affair; that all see the same ones is not. */
export const questions: Topic = {
  name: 'questions',
  rules: [
    {
      id: 'K200',
      title: 'questions that are open are shown in their session, until they are answered',
      source: 'sessions: inputNeeded lists whatever waits in a chat, and then the status is InputNeeded',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingForm(kit)
        const { talk } = asked
        const shown = (all: readonly SessionInputRequest[]) => all.find(shows(asked))
        await ask.untilNeeded(talk, 'session/inputNeededSet for the questions', shown)
        check(ask.needsInput(talk.sessionState()), 'a session that needs input', talk.sessionState().status)
        check(ask.needsInput(talk.state()), 'a chat that needs input', talk.state().status)
        const late = await talk.joined()
        check(ask.neededIn(late.sessionState(), talk.chat).some(shows(asked)), 'them in a snapshot', 'none')
        await talk.client.change(talk.chat, ask.completed(asked, 'decline'))
        await unshown(asked)
      },
    },
    {
      id: 'K201',
      title: 'a draft of an answer is shared by all clients, and any of them may take it back',
      source: 'chat/inputAnswerChanged: answers stand in the request; without one the last is gone',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingForm(kit)
        const [ann, ben] = [asked.talk, await asked.talk.joined()]
        const question = plainest(asked.request)
        const draft = answerTo(question, 'draft')
        const told = await ann.client.change(ann.chat, changed(asked, question.id, draft))
        await ben.client.hears(told)
        const of = (state: ChatState) => ask.formIn(state, asked.request)?.request.answers?.[question.id]
        same('the draft', draft, of(ben.state()))
        same('the draft', draft, await ann.agreed('the draft', of))
        await ann.client.hears(await ben.client.change(ben.chat, changed(asked, question.id)))
        same('a draft that was taken back', undefined, of(ann.state()))
        same('a draft that was taken back', undefined, await ann.agreed('the draft', of))
      },
    },
    {
      id: 'K202',
      title: 'what is no answer at all is rejected, and changes nothing',
      source: 'validation; the shape of an answer: its value, its state and the response',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingForm(kit)
        const { talk, request } = asked
        const { id } = plainest(request)
        const before = ask.formIn(talk.state(), request)
        const value = { kind: 'text', value: 'conformance' }
        const none = [{ state: 'draft' }, { state: 'conformance', value }, { state: 'draft', value: 7 }]
        for (const answer of none) await talk.client.rejected(talk.chat, changed(asked, id, answer))
        await talk.client.rejected(talk.chat, ask.completed(asked, 'conformance'))
        same('the questions', before, await talk.agreed('the questions', of(request)))
      },
    },
    {
      id: 'K203',
      title: 'agreed to, the questions stay where they were asked, with all answers',
      source: 'chat/inputCompleted: its answers are laid over those that are there',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingForm(kit)
        const [ann, ben] = [asked.talk, await asked.talk.joined()]
        const { id } = plainest(asked.request)
        const answers = answersTo(asked.request)
        const { [id]: first, ...rest } = answers
        await ann.client.change(ann.chat, changed(asked, id, first))
        const wish = ask.completed(asked, 'accept', { answers: rest })
        const { serverSeq } = await ben.client.change(ben.chat, wish)
        const place = (state: ChatState) =>
          state.activeTurn?.responseParts.findIndex((part) => part.kind === 'inputRequest')
        same('their place', place(ben.state(serverSeq - 1)), place(ben.state(serverSeq)))
        const pick = of(asked.request)
        for (const part of [pick(ben.state(serverSeq)), await ann.agreed('the questions', pick)]) {
          same('the response', 'accept', part?.response)
          same('the answers', answers, part?.request.answers)
        }
      },
    },
    {
      id: 'K204',
      title: 'questions that were declined, or cancelled, say so',
      source: 'chat/inputCompleted: the response of people',
      needs: 'session',
      async run(kit) {
        for (const response of ['decline', 'cancel']) {
          const asked = await ask.waitingForm(kit)
          const { talk, request } = asked
          const { serverSeq } = await talk.client.change(talk.chat, ask.completed(asked, response))
          same('the response', response, ask.formIn(talk.state(serverSeq), request)?.response)
          same(
            'the response in a snapshot',
            response,
            (await talk.agreed('the response', of(request)))?.response,
          )
        }
      },
    },
    {
      id: 'K205',
      title: 'of two clients that answer at once the first counts, and all see the same',
      source: 'chat/inputCompleted: what is answered is not open any more',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingForm(kit)
        const [ann, ben] = [asked.talk, await asked.talk.joined()]
        const sent = [
          ann.dispatch(ask.completed(asked, 'decline')),
          ben.dispatch(ask.completed(asked, 'cancel')),
        ] as const
        const fates = [await ann.client.outcome(sent[0]), await ben.client.outcome(sent[1])]
        const taken = fates.filter(({ rejectionReason }) => !rejectionReason)
        const [first] = taken.toSorted((a, b) => a.serverSeq - b.serverSeq)
        check(first !== undefined, 'one of both to be taken', fates)
        const { response } = first.action as Action & { response: string }
        same('the response', response, (await ann.agreed('the response', of(asked.request)))?.response)
      },
    },
    {
      id: 'K206',
      title: 'questions are answered through their session by a client that never opened the chat',
      source: 'sessions: an entry of inputNeeded holds what is needed to answer it',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingForm(kit)
        const { talk } = asked
        const eve = await kit.join()
        const start = await eve.subscribe(talk.session)
        const entries = () => ask.neededIn(fold('session', start, eve.envelopes) as SessionState, talk.chat)
        const entry = await eve
          .until('the questions in their session', () => entries().find(shows(asked)))
          .catch(() => {
            throw new Skipped('the session does not show the questions')
          })
        if (entry.kind !== 'chatInput') return
        eve.dispatch(entry.chat, ask.completed(entry, 'decline'))
        await talk.client.until(
          'the questions to be answered',
          () => of(asked.request)(talk.state())?.response,
        )
      },
    },
    {
      id: 'K207',
      title: 'questions that are open when their turn is cancelled wait for nobody any more',
      source: 'chats: only questions of the turn that runs are open',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingForm(kit)
        const { talk, request } = asked
        await talk.client.change(talk.chat, ask.cancelled(asked))
        await unshown(asked)
        check(
          !ask.needsInput(talk.sessionState()),
          'a session that needs nothing',
          talk.sessionState().status,
        )
        const left = await talk.agreed('the questions', of(request))
        check(!ask.needsInput(talk.state()), 'a chat that needs nothing', talk.state().status)
        await talk.client.outcome(talk.dispatch(ask.completed(asked, 'decline')))
        same('the questions', left, await talk.agreed('the questions', of(request)))
      },
    },
    {
      id: 'K208',
      title: 'answers to questions that nobody put change nothing',
      source:
        'chat/inputAnswerChanged and chat/inputCompleted: a request that is not open leaves the state alone',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingForm(kit)
        const { talk, request } = asked
        const other = { ...asked, request: { ...request, id: randomUUID() } }
        const question = plainest(request)
        const before = ask.formIn(talk.state(), request)
        for (const wish of [
          changed(other, question.id, answerTo(question, 'draft')),
          ask.completed(other, 'decline'),
        ])
          await talk.client.outcome(talk.dispatch(wish))
        same('the questions', before, await talk.agreed('the questions', of(request)))
      },
    },
  ],
}

function of(request: ChatInputRequest) {
  return (state: ChatState) => ask.formIn(state, request)
}

function changed({ request }: WaitingForm, questionId: string, answer?: object): Action {
  return {
    type: 'chat/inputAnswerChanged',
    requestId: request.id,
    questionId,
    ...(answer && { answer }),
  } as Action
}

function shows({ request }: WaitingForm) {
  return (entry: SessionInputRequest): boolean =>
    entry.kind === 'chatInput' && entry.request.id === request.id
}

async function unshown(asked: WaitingForm): Promise<void> {
  const gone = (all: readonly SessionInputRequest[]) => !all.some(shows(asked)) || undefined
  await ask.untilNeeded(asked.talk, 'the questions not to be shown any more', gone)
}
