import { randomUUID } from 'node:crypto'
import type { Action } from '@atrium/protocol/channel'
import type { ChatInputRequest } from '@atrium/protocol/chat/request'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionInputRequest } from '@atrium/protocol/session/state'
import { answerTo, answersTo, simplestQuestion } from '../kit/answer.ts'
import { actionOf } from '../kit/action.ts'
import { Skipped, check, same } from '../kit/check.ts'
import { fold } from '../kit/fold.ts'
import type { Topic } from '../kit/rule.ts'
import * as input from '../kit/pending-input.ts'
import type { PendingRequest } from '../kit/pending-input.ts'

/**
 * Questions that an agent asks users. The rules judge whether all clients see the same answers. They do not judge which
 * answers the agent accepts.
 */
export const questions: Topic = {
  name: 'questions',
  rules: [
    {
      id: 'K200',
      title: 'open questions are listed in their session until they are answered',
      source: 'sessions: inputNeeded lists everything that a chat waits for, and the status is InputNeeded',
      run: input.withRequest(async (pending) => {
        const { conversation } = pending
        const listed = (all: readonly SessionInputRequest[]) => all.find(isEntryOf(pending))
        await input.untilInputNeeded(conversation, 'session/inputNeededSet for the questions', listed)
        check(
          input.needsInput(conversation.sessionState()),
          'a session that needs input',
          conversation.sessionState().status,
        )
        check(input.needsInput(conversation.state()), 'a chat that needs input', conversation.state().status)
        const late = await conversation.withNewClient()
        check(
          input.inputNeededIn(late.sessionState(), conversation.chat).some(isEntryOf(pending)),
          'an entry for the questions in a snapshot',
          'none',
        )
        await conversation.mustAccept(input.completion(pending, 'decline'))
        await noLongerListed(pending)
      }),
    },
    {
      id: 'K201',
      title: 'a draft of an answer is shared by all clients, and any client may remove it',
      source:
        'chat/inputAnswerChanged: the request holds the answers; without an answer the last one is removed',
      run: input.withRequest(async (pending) => {
        const [ann, ben] = [pending.conversation, await pending.conversation.withNewClient()]
        const question = simplestQuestion(pending.request)
        const draft = answerTo(question, 'draft')
        const echo = await ann.mustAccept(answerChanged(pending, question.id, draft))
        await ben.client.receives(echo)
        const pick = (state: ChatState) =>
          input.requestIn(state, pending.request)?.request.answers?.[question.id]
        same('the draft', draft, pick(ben.state()))
        same('the draft', draft, await ann.sameInSnapshot('the draft', pick))
        await ann.client.receives(await ben.mustAccept(answerChanged(pending, question.id)))
        same('a removed draft', undefined, pick(ann.state()))
        same('a removed draft', undefined, await ann.sameInSnapshot('the draft', pick))
      }),
    },
    {
      id: 'K202',
      title: 'an answer that does not match the schema is rejected and changes nothing',
      source: 'validation; the schema of an answer: its value, its state and the response',
      recommended: true,
      run: input.withRequest(async (pending) => {
        const { conversation, request } = pending
        const { id } = simplestQuestion(request)
        const before = input.requestIn(conversation.state(), request)
        const value = { kind: 'text', value: 'conformance' }
        const invalid = [{ state: 'draft' }, { state: 'conformance', value }, { state: 'draft', value: 7 }]
        for (const answer of invalid) await conversation.mustReject(answerChanged(pending, id, answer))
        await conversation.mustReject(input.completion(pending, 'conformance'))
        same(
          'the questions',
          before,
          await conversation.sameInSnapshot('the questions', pickRequest(request)),
        )
      }),
    },
    {
      id: 'K203',
      title: 'accepted questions keep their place in the response, with all answers',
      source: 'chat/inputCompleted: its answers are merged into the existing answers',
      run: input.withRequest(async (pending) => {
        const [ann, ben] = [pending.conversation, await pending.conversation.withNewClient()]
        const { id } = simplestQuestion(pending.request)
        const answers = answersTo(pending.request)
        const { [id]: first, ...rest } = answers
        await ann.mustAccept(answerChanged(pending, id, first))
        const answer = input.completion(pending, 'accept', { answers: rest })
        const { serverSeq } = await ben.mustAccept(answer)
        const place = (state: ChatState) =>
          state.activeTurn?.responseParts.findIndex((part) => part.kind === 'inputRequest')
        same('their place in the response', place(ben.state(serverSeq - 1)), place(ben.state(serverSeq)))
        const pick = pickRequest(pending.request)
        for (const part of [pick(ben.state(serverSeq)), await ann.sameInSnapshot('the questions', pick)]) {
          same('the response', 'accept', part?.response)
          same('the answers', answers, part?.request.answers)
        }
      }),
    },
    {
      id: 'K204',
      title: 'declined or cancelled questions record that response',
      source: 'chat/inputCompleted: the response of the user',
      async run(kit) {
        for (const response of ['decline', 'cancel']) {
          const pending = await input.pendingRequest(kit)
          const { conversation, request } = pending
          const { serverSeq } = await conversation.mustAccept(input.completion(pending, response))
          same('the response', response, input.requestIn(conversation.state(serverSeq), request)?.response)
          same(
            'the response in a snapshot',
            response,
            (await conversation.sameInSnapshot('the response', pickRequest(request)))?.response,
          )
        }
      },
    },
    {
      id: 'K205',
      title: 'when two clients answer concurrently, the first counts and all clients see the same response',
      source: 'chat/inputCompleted: an answered request is no longer open',
      run: input.withRequest(async (pending) => {
        const [ann, ben] = [pending.conversation, await pending.conversation.withNewClient()]
        const sent = [
          ann.dispatch(input.completion(pending, 'decline')),
          ben.dispatch(input.completion(pending, 'cancel')),
        ] as const
        const outcomes = [await ann.client.outcome(sent[0]), await ben.client.outcome(sent[1])]
        const accepted = outcomes.filter(({ rejectionReason }) => !rejectionReason)
        const [first] = accepted.toSorted((a, b) => a.serverSeq - b.serverSeq)
        check(first !== undefined, 'one of the two to be accepted', outcomes)
        const { response } = first.action as Action & { response: string }
        same(
          'the response',
          response,
          (await ann.sameInSnapshot('the response', pickRequest(pending.request)))?.response,
        )
      }),
    },
    {
      id: 'K206',
      title: 'a client that has not opened the chat can answer questions through the session',
      source: 'sessions: an entry of inputNeeded holds all data needed to answer it',
      run: input.withRequest(async (pending, kit) => {
        const { conversation } = pending
        const outsider = await kit.join()
        const start = await outsider.subscribe(conversation.session)
        const entries = () =>
          input.inputNeededIn(fold('session', start, outsider.envelopes), conversation.chat)
        const entry = await outsider
          .until('the questions in their session', () => entries().find(isEntryOf(pending)))
          .catch(() => {
            throw new Skipped('the session does not list the questions')
          })
        if (entry.kind !== 'chatInput') return
        outsider.dispatch(entry.chat, input.completion(entry, 'decline'))
        await conversation.client.until(
          'the questions to be answered',
          () => pickRequest(pending.request)(conversation.state())?.response,
        )
      }),
    },
    {
      id: 'K207',
      title: 'questions that are open when their turn is cancelled no longer need input',
      source: 'chats: only questions of the active turn are open',
      run: input.withRequest(async (pending) => {
        const { conversation, request } = pending
        await conversation.mustAccept(input.cancellation(pending))
        await noLongerListed(pending)
        check(
          !input.needsInput(conversation.sessionState()),
          'a session that needs no input',
          conversation.sessionState().status,
        )
        const after = await conversation.sameInSnapshot('the questions', pickRequest(request))
        check(
          !input.needsInput(conversation.state()),
          'a chat that needs no input',
          conversation.state().status,
        )
        await conversation.client.outcome(conversation.dispatch(input.completion(pending, 'decline')))
        same('the questions', after, await conversation.sameInSnapshot('the questions', pickRequest(request)))
      }),
    },
    {
      id: 'K208',
      title: 'answers to an unknown request change nothing',
      source:
        'chat/inputAnswerChanged and chat/inputCompleted: an unknown request leaves the state unchanged',
      run: input.withRequest(async (pending) => {
        const { conversation, request } = pending
        const unknown = { ...pending, request: { ...request, id: randomUUID() } }
        const question = simplestQuestion(request)
        const before = input.requestIn(conversation.state(), request)
        for (const answer of [
          answerChanged(unknown, question.id, answerTo(question, 'draft')),
          input.completion(unknown, 'decline'),
        ])
          await conversation.client.outcome(conversation.dispatch(answer))
        same(
          'the questions',
          before,
          await conversation.sameInSnapshot('the questions', pickRequest(request)),
        )
      }),
    },
  ],
}

function pickRequest(request: ChatInputRequest) {
  return (state: ChatState) => input.requestIn(state, request)
}

function answerChanged({ request }: PendingRequest, questionId: string, answer?: object): Action {
  return actionOf('chat/inputAnswerChanged', { requestId: request.id, questionId, ...(answer && { answer }) })
}

function isEntryOf({ request }: PendingRequest) {
  return (entry: SessionInputRequest): boolean =>
    entry.kind === 'chatInput' && entry.request.id === request.id
}

async function noLongerListed(pending: PendingRequest): Promise<void> {
  const gone = (all: readonly SessionInputRequest[]) => !all.some(isEntryOf(pending)) || undefined
  await input.untilInputNeeded(pending.conversation, 'the questions to leave inputNeeded', gone)
}
