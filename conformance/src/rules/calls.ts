import { randomUUID } from 'node:crypto'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { SessionInputRequest, SessionState } from '@atrium/protocol/session/state'
import { Skipped, check, same } from '../kit/check.ts'
import { fold } from '../kit/fold.ts'
import type { Topic } from '../kit/rule.ts'
import * as ask from '../kit/waiting.ts'
import type { WaitingCall } from '../kit/waiting.ts'

/** What people decide about the tools of an agent. What the agent does with it is its own affair. */
export const calls: Topic = {
  name: 'calls',
  rules: [
    {
      id: 'K190',
      title: 'a call that waits for approval is shown in its session, until it is answered',
      source: 'sessions: inputNeeded lists whatever waits in a chat, and then the status is InputNeeded',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingCall(kit)
        const { talk, turnId } = asked
        const shown = (all: readonly SessionInputRequest[]) => all.find(shows(asked))
        const entry = await ask.untilNeeded(talk, 'session/inputNeededSet for the call', shown)
        same('the turn in it', turnId, entry.kind === 'toolConfirmation' && entry.turnId)
        check(ask.needsInput(talk.sessionState()), 'a session that needs input', talk.sessionState().status)
        check(ask.needsInput(talk.state()), 'a chat that needs input', talk.state().status)
        const late = await talk.joined()
        check(ask.neededIn(late.sessionState(), talk.chat).some(shows(asked)), 'it in a snapshot', 'none')
        await talk.client.change(talk.chat, ask.denied(asked))
        await unshown(asked)
      },
    },
    {
      id: 'K191',
      title: 'a call that is approved runs',
      source: 'chat/toolCallConfirmed: what waits for approval runs, and says who confirmed it',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingCall(kit)
        const call = await decided(asked, ask.approved(asked))
        same('the call', { status: 'running', confirmed: 'user-action' }, briefly(call))
      },
    },
    {
      id: 'K192',
      title: 'a call whose input was edited by who approved it has the edited input',
      source: 'chat/toolCallConfirmed: editedToolInput takes the place of a text',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingCall(kit)
        const { toolInput, editable } = asked.call
        if (editable !== true || typeof toolInput !== 'string')
          throw new Skipped('the input of the call cannot be edited')
        // The same to every shell and every parser.
        const editedToolInput = `${toolInput} `
        const call = await decided(asked, ask.approved(asked, { editedToolInput }))
        same('its input', editedToolInput, call && 'toolInput' in call ? call.toolInput : undefined)
      },
    },
    {
      id: 'K193',
      title: 'an option of the host that decided a call is kept with it',
      source: 'chat/toolCallConfirmed: selectedOptionId names one of the options of the call',
      needs: 'session',
      async run(kit) {
        let judged = 0
        for (const kind of ['approve', 'deny']) {
          const asked = await ask.waitingCall(kit)
          const option = asked.call.options?.find((each) => each.kind === kind)
          if (!option) continue
          judged++
          const chosen = { selectedOptionId: option.id }
          const wish = kind === 'approve' ? ask.approved(asked, chosen) : ask.denied(asked, chosen)
          const call = await decided(asked, wish)
          const status = kind === 'approve' ? 'running' : 'cancelled'
          same('the status', status, call?.status)
          same('the option', option, call && 'selectedOption' in call ? call.selectedOption : undefined)
        }
        if (judged === 0) throw new Skipped('the call comes without options of the host')
      },
    },
    {
      id: 'K194',
      title: 'a call that is denied is cancelled as denied, with what was said to it',
      source: 'chat/toolCallConfirmed: what is not approved is cancelled, with its reason',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingCall(kit)
        const reasonMessage = `conformance ${randomUUID()}`
        const call = await decided(asked, ask.denied(asked, { reasonMessage }))
        same('the call', { status: 'cancelled', reason: 'denied' }, briefly(call))
        same('what was said', reasonMessage, call?.status === 'cancelled' && call.reasonMessage)
      },
    },
    {
      id: 'K195',
      title: 'of two clients that answer a call at once one decides, and the other is told why not',
      source: 'validation on the chat channel: only a call that waits for it is confirmed',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingCall(kit)
        const [ann, ben] = [asked.talk, await asked.talk.joined()]
        const sent = [ann.dispatch(ask.approved(asked)), ben.dispatch(ask.denied(asked))] as const
        const fates = [await ann.client.outcome(sent[0]), await ben.client.outcome(sent[1])]
        const taken = fates.filter(({ rejectionReason }) => !rejectionReason)
        same('how many were taken', 1, taken.length)
        const yes = taken[0] === fates[0]
        const call = await ann.agreed('the call', of(asked.call))
        same('whether the call was denied', !yes, call?.status === 'cancelled' && call.reason === 'denied')
      },
    },
    {
      id: 'K196',
      title: 'confirming a call that was decided, or in a turn that is not its own, is rejected',
      source: 'validation on the chat channel: an action names what it can be about',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingCall(kit)
        const { talk, call } = asked
        await talk.client.rejected(talk.chat, ask.approved({ ...asked, turnId: randomUUID() }))
        same('the call', call.status, (await talk.agreed('the call', of(call)))?.status)
        await talk.client.change(talk.chat, ask.denied(asked))
        await talk.client.rejected(talk.chat, ask.approved(asked))
        same('the call', 'cancelled', (await talk.agreed('the call', of(call)))?.status)
      },
    },
    {
      id: 'K197',
      title: 'a call is answered through its session by a client that never opened its chat',
      source: 'sessions: an entry of inputNeeded holds what is needed to answer it',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingCall(kit)
        const eve = await kit.join()
        const start = await eve.subscribe(asked.talk.session)
        const entries = () =>
          ask.neededIn(fold('session', start, eve.envelopes) as SessionState, asked.talk.chat)
        const entry = await eve
          .until('the call in its session', () => entries().find(shows(asked)))
          .catch(() => {
            throw new Skipped('the session does not show the call')
          })
        if (entry.kind !== 'toolConfirmation') return
        const { chat, turnId, toolCall } = entry
        eve.dispatch(chat, ask.denied({ ...asked, turnId, call: toolCall as WaitingCall['call'] }))
        await asked.talk.client.until('the call to be denied', () =>
          ask.callIn(asked.talk.state(), asked.call)?.status === 'cancelled' ? true : undefined,
        )
      },
    },
    {
      id: 'K198',
      title: 'a result that waits for approval is shown in the session, and is taken once it is approved',
      source: 'chat/toolCallResultConfirmed: only a result that waits for it is confirmed',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingCall(kit)
        const { talk, turnId, call } = asked
        const { toolCallId } = call
        const wish = { type: 'chat/toolCallResultConfirmed', turnId, toolCallId, approved: true }
        await talk.client.outcome(talk.dispatch(wish))
        same('a call without a result', call.status, (await talk.agreed('the call', of(call)))?.status)
        await talk.client.change(talk.chat, ask.approved(asked))
        const over = () => ask.callIn(talk.state(), call)?.status !== 'running' || undefined
        await talk.client.until('the call to end', over, kit.turnMs).catch((error: Error) => {
          throw new Skipped(error.message)
        })
        if (ask.callIn(talk.state(), call)?.status !== waits)
          throw new Skipped('no result of a call waits for approval here')
        const shown = (all: readonly SessionInputRequest[]) => all.find(shows(asked, waits))
        await ask.untilNeeded(talk, 'session/inputNeededSet for the result', shown)
        const { serverSeq } = await talk.client.change(talk.chat, wish)
        same('the call', 'completed', ask.callIn(talk.state(serverSeq), call)?.status)
        await unshown(asked, waits)
        same('the call in a snapshot', 'completed', (await talk.agreed('the call', of(call)))?.status)
      },
    },
    {
      id: 'K199',
      title: 'a call that waits when its turn is cancelled is skipped, and cannot be answered any more',
      source: 'chats: the end of a turn cancels whatever call of it has not ended',
      needs: 'session',
      async run(kit) {
        const asked = await ask.waitingCall(kit)
        const { talk, call } = asked
        await talk.client.change(talk.chat, ask.cancelled(asked))
        await unshown(asked)
        const skipped = { status: 'cancelled', reason: 'skipped' }
        same('the call', skipped, briefly(await talk.agreed('the call', of(call))))
        await talk.client.rejected(talk.chat, ask.approved(asked))
        same('the call', skipped, briefly(await talk.agreed('the call', of(call))))
      },
    },
  ],
}

const waits = 'pending-result-confirmation'

/** Whether an entry of a session is about the call, while that is in this status. */
function shows({ call }: WaitingCall, status = 'pending-confirmation') {
  return (entry: SessionInputRequest): boolean =>
    entry.kind === 'toolConfirmation' &&
    entry.toolCall.toolCallId === call.toolCallId &&
    entry.toolCall.status === status
}

async function unshown(asked: WaitingCall, status?: string): Promise<void> {
  const gone = (all: readonly SessionInputRequest[]) => !all.some(shows(asked, status)) || undefined
  await ask.untilNeeded(asked.talk, 'the call not to be shown any more', gone)
}

function of(call: { readonly toolCallId: string }) {
  return (state: ChatState) => ask.callIn(state, call)
}

/** The call in the moment of its decision, which everybody else sees, too. */
async function decided(asked: WaitingCall, wish: ReturnType<typeof ask.approved>) {
  const { talk, call } = asked
  const { serverSeq } = await talk.client.change(talk.chat, wish)
  const found = ask.callIn(talk.state(serverSeq), call)
  await talk.agreed('the call', of(call))
  return found
}

function briefly(call: ToolCallState | undefined): object | undefined {
  if (call?.status === 'cancelled') return { status: call.status, reason: call.reason }
  return call && { status: call.status, ...('confirmed' in call && { confirmed: call.confirmed }) }
}
