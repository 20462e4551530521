import { randomUUID } from 'node:crypto'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { SessionInputRequest } from '@atrium/protocol/session/state'
import { Skipped, check, same } from '../kit/check.ts'
import { fold } from '../kit/fold.ts'
import type { Topic } from '../kit/rule.ts'
import * as input from '../kit/pending-input.ts'
import type { PendingCall } from '../kit/pending-input.ts'

/** Approval of tool calls by users. The rules do not judge how the agent reacts to a decision. */
export const calls: Topic = {
  name: 'calls',
  rules: [
    {
      id: 'K190',
      title: 'a call that is pending approval is listed in its session until it is answered',
      source: 'sessions: inputNeeded lists everything that a chat waits for, and the status is InputNeeded',
      run: input.withCall(async (pending) => {
        const { conversation, turnId } = pending
        const listed = (all: readonly SessionInputRequest[]) => all.find(isEntryOf(pending))
        const entry = await input.untilInputNeeded(
          conversation,
          'session/inputNeededSet for the call',
          listed,
        )
        same('the turn of the entry', turnId, entry.kind === 'toolConfirmation' && entry.turnId)
        check(
          input.needsInput(conversation.sessionState()),
          'a session that needs input',
          conversation.sessionState().status,
        )
        check(input.needsInput(conversation.state()), 'a chat that needs input', conversation.state().status)
        const late = await conversation.withNewClient()
        check(
          input.inputNeededIn(late.sessionState(), conversation.chat).some(isEntryOf(pending)),
          'an entry for the call in a snapshot',
          'none',
        )
        await conversation.mustAccept(input.denial(pending))
        await noLongerListed(pending)
      }),
    },
    {
      id: 'K191',
      title: 'an approved call runs',
      source: 'chat/toolCallConfirmed: a pending call runs and records by whom it was confirmed',
      run: input.withCall(async (pending) => {
        const call = await decide(pending, input.approval(pending))
        same('the call', { status: 'running', confirmed: 'user-action' }, statusOf(call))
      }),
    },
    {
      id: 'K192',
      title: 'a call approved with an edited input has the edited input',
      source: 'chat/toolCallConfirmed: editedToolInput replaces a text input',
      run: input.withCall(async (pending) => {
        const { toolInput, editable } = pending.call
        if (editable !== true || typeof toolInput !== 'string')
          throw new Skipped('the input of the call cannot be edited')
        // The edit adds only a space at the end, which changes nothing for a shell or a parser.
        const editedToolInput = `${toolInput} `
        const call = await decide(pending, input.approval(pending, { editedToolInput }))
        same('its input', editedToolInput, call && 'toolInput' in call ? call.toolInput : undefined)
      }),
    },
    {
      id: 'K193',
      title: "a call decided by one of the host's options keeps that option",
      source: 'chat/toolCallConfirmed: selectedOptionId names one of the options of the call',
      async run(kit) {
        let judged = 0
        for (const kind of ['approve', 'deny']) {
          const pending = await input.pendingCall(kit)
          const option = pending.call.options?.find((each) => each.kind === kind)
          if (!option) continue
          judged++
          const chosen = { selectedOptionId: option.id }
          const answer = kind === 'approve' ? input.approval(pending, chosen) : input.denial(pending, chosen)
          const call = await decide(pending, answer)
          const status = kind === 'approve' ? 'running' : 'cancelled'
          same('the status', status, call?.status)
          same(
            'the selected option',
            option,
            call && 'selectedOption' in call ? call.selectedOption : undefined,
          )
        }
        if (judged === 0) throw new Skipped('the host gives the call no options')
      },
    },
    {
      id: 'K194',
      title: 'a denied call is cancelled with the reason denied and the given message',
      source: 'chat/toolCallConfirmed: a call that is not approved is cancelled with a reason',
      run: input.withCall(async (pending) => {
        const reasonMessage = `conformance ${randomUUID()}`
        const call = await decide(pending, input.denial(pending, { reasonMessage }))
        same('the call', { status: 'cancelled', reason: 'denied' }, statusOf(call))
        same('its reasonMessage', reasonMessage, call?.status === 'cancelled' && call.reasonMessage)
      }),
    },
    {
      id: 'K195',
      title: 'when two clients answer a call concurrently, one is accepted and the other is rejected',
      source: 'validation on the chat channel: only a pending call can be confirmed',
      run: input.withCall(async (pending) => {
        const [ann, ben] = [pending.conversation, await pending.conversation.withNewClient()]
        const sent = [ann.dispatch(input.approval(pending)), ben.dispatch(input.denial(pending))] as const
        const outcomes = [await ann.client.outcome(sent[0]), await ben.client.outcome(sent[1])]
        const accepted = outcomes.filter(({ rejectionReason }) => !rejectionReason)
        same('the number of accepted answers', 1, accepted.length)
        const approved = accepted[0] === outcomes[0]
        const call = await ann.sameInSnapshot('the call', pickCall(pending.call))
        same(
          'whether the call was denied',
          !approved,
          call?.status === 'cancelled' && call.reason === 'denied',
        )
      }),
    },
    {
      id: 'K196',
      title: 'confirming a decided call, or a call in a turn other than its own, is rejected',
      source: 'validation on the chat channel: an action names a call that it applies to',
      run: input.withCall(async (pending) => {
        const { conversation, call } = pending
        await conversation.mustReject(input.approval({ ...pending, turnId: randomUUID() }))
        same('the call', call.status, (await conversation.sameInSnapshot('the call', pickCall(call)))?.status)
        await conversation.mustAccept(input.denial(pending))
        await conversation.mustReject(input.approval(pending))
        same('the call', 'cancelled', (await conversation.sameInSnapshot('the call', pickCall(call)))?.status)
      }),
    },
    {
      id: 'K197',
      title: 'a client that has not opened the chat can answer a call through the session',
      source: 'sessions: an entry of inputNeeded holds all data needed to answer it',
      run: input.withCall(async (pending, kit) => {
        const outsider = await kit.join()
        const start = await outsider.subscribe(pending.conversation.session)
        const entries = () =>
          input.inputNeededIn(fold('session', start, outsider.envelopes), pending.conversation.chat)
        const entry = await outsider
          .until('the call in its session', () => entries().find(isEntryOf(pending)))
          .catch(() => {
            throw new Skipped('the session does not list the call')
          })
        if (entry.kind !== 'toolConfirmation') return
        const { chat, turnId, toolCall } = entry
        outsider.dispatch(chat, input.denial({ ...pending, turnId, call: toolCall as PendingCall['call'] }))
        await pending.conversation.client.until('the call to be denied', () =>
          input.callIn(pending.conversation.state(), pending.call)?.status === 'cancelled' ? true : undefined,
        )
      }),
    },
    {
      id: 'K198',
      title: 'a result that is pending approval is listed in the session, and completes once approved',
      source: 'chat/toolCallResultConfirmed: only a pending result can be confirmed',
      run: input.withCall(async (pending, kit) => {
        const { conversation, turnId, call } = pending
        const { toolCallId } = call
        const answer = { type: 'chat/toolCallResultConfirmed', turnId, toolCallId, approved: true }
        await conversation.client.outcome(conversation.dispatch(answer))
        same(
          'a call without a result',
          call.status,
          (await conversation.sameInSnapshot('the call', pickCall(call)))?.status,
        )
        await conversation.mustAccept(input.approval(pending))
        const ended = () => input.callIn(conversation.state(), call)?.status !== 'running' || undefined
        await conversation.client.until('the call to end', ended, kit.turnTimeoutMs).catch((error: Error) => {
          throw new Skipped(error.message)
        })
        if (input.callIn(conversation.state(), call)?.status !== pendingResult)
          throw new Skipped('no result of a call is pending approval on this host')
        const listed = (all: readonly SessionInputRequest[]) => all.find(isEntryOf(pending, pendingResult))
        await input.untilInputNeeded(conversation, 'session/inputNeededSet for the result', listed)
        const { serverSeq } = await conversation.mustAccept(answer)
        same('the call', 'completed', input.callIn(conversation.state(serverSeq), call)?.status)
        await noLongerListed(pending, pendingResult)
        same(
          'the call in a snapshot',
          'completed',
          (await conversation.sameInSnapshot('the call', pickCall(call)))?.status,
        )
      }),
    },
    {
      id: 'K199',
      title: 'a call that is pending when its turn is cancelled is skipped and cannot be answered',
      source: 'chats: the end of a turn cancels every unfinished call',
      run: input.withCall(async (pending) => {
        const { conversation, call } = pending
        await conversation.mustAccept(input.cancellation(pending))
        await noLongerListed(pending)
        const skipped = { status: 'cancelled', reason: 'skipped' }
        same('the call', skipped, statusOf(await conversation.sameInSnapshot('the call', pickCall(call))))
        await conversation.mustReject(input.approval(pending))
        same('the call', skipped, statusOf(await conversation.sameInSnapshot('the call', pickCall(call))))
      }),
    },
  ],
}

const pendingResult = 'pending-result-confirmation'

/** Tells whether an entry of `inputNeeded` shows this call in this status. */
function isEntryOf({ call }: PendingCall, status = 'pending-confirmation') {
  return (entry: SessionInputRequest): boolean =>
    entry.kind === 'toolConfirmation' &&
    entry.toolCall.toolCallId === call.toolCallId &&
    entry.toolCall.status === status
}

async function noLongerListed(pending: PendingCall, status?: string): Promise<void> {
  const gone = (all: readonly SessionInputRequest[]) => !all.some(isEntryOf(pending, status)) || undefined
  await input.untilInputNeeded(pending.conversation, 'the call to leave inputNeeded', gone)
}

function pickCall(call: { readonly toolCallId: string }) {
  return (state: ChatState) => input.callIn(state, call)
}

/** Dispatches the answer to a call. Returns the call right after the answer. Checks that a new snapshot shows the same call. */
async function decide(pending: PendingCall, answer: ReturnType<typeof input.approval>) {
  const { conversation, call } = pending
  const { serverSeq } = await conversation.mustAccept(answer)
  const found = input.callIn(conversation.state(serverSeq), call)
  await conversation.sameInSnapshot('the call', pickCall(call))
  return found
}

function statusOf(call: ToolCallState | undefined): object | undefined {
  if (call?.status === 'cancelled') return { status: call.status, reason: call.reason }
  return call && { status: call.status, ...('confirmed' in call && { confirmed: call.confirmed }) }
}
