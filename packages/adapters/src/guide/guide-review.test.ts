import { expect, test } from 'vitest'
import { HostlessChat } from '../../../host/test/hostless-chat.ts'
import { agentRoom, callsIn, later, textOf } from '../../test/model-room.ts'
import { guide } from './guide.ts'

const words = 'atrium and here'
const used = `You approved the result, so I use it: ${words}`
const unused = 'You did not approve the result, so I do not use it.'

test.each([true, false])(
  '[N5.1] review: the result is used only if it is approved (%s)',
  async (approved) => {
    const chat = new HostlessChat(guide(later))
    chat.approvesResults = approved
    const run = chat.begin('review 3')
    const turn = await run.end()
    expect(run.said.slice(0, 3)).toMatchObject([
      { type: 'chat/toolCallStart', toolName: 'review' },
      { type: 'chat/toolCallReady', toolInput: '3', confirmed: 'not-needed' },
      {
        type: 'chat/toolCallComplete',
        requiresResultConfirmation: true,
        result: { content: [{ text: words }] },
      },
    ])
    expect(turn.responseParts[0]).toMatchObject({
      toolCall: approved ? { status: 'completed' } : { status: 'cancelled', reason: 'result-denied' },
    })
    expect(textOf(turn)).toBe(approved ? used : unused)
    expect(turn.state).toBe('complete')
  },
)

test.each([true, false])(
  '[N6] review: a result that is decided after a restart (approved: %s) is not made again',
  async (approved) => {
    const { host, begin, until, again } = await agentRoom(guide(later))
    const turnId = await begin('review 3')
    await until(({ activeTurn }) => callsIn(activeTurn)[0]?.status === 'pending-result-confirmation')
    await host.core().log.settled()
    await host.restart('crash')
    const ben = await again()
    const [call] = callsIn(ben.state().activeTurn)
    expect(call).toMatchObject({ status: 'pending-result-confirmation', content: [{ text: words }] })
    const { toolCallId } = call ?? { toolCallId: '' }
    const decision = { type: 'chat/toolCallResultConfirmed', turnId, toolCallId, approved }
    expect(await ben.dispatch(decision)).toBeUndefined()
    const turn = await ben.ended(turnId)
    expect([turn.state, callsIn(turn).length, textOf(turn)]).toEqual([
      'complete',
      1,
      approved ? used : unused,
    ])
  },
)
