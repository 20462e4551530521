import type { Client } from '@atrium/client/client'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Pane } from '../render/pane.ts'
import type { Request } from '../session/pending-requests.ts'
import { styled } from '../terminal/output.ts'
import { Prompts } from './prompts.ts'

const request: Request = {
  kind: 'toolConfirmation',
  id: 'chat#call-c',
  chat: 'chat',
  turnId: 't',
  toolCall: {
    toolCallId: 'c',
    toolName: 'run',
    displayName: 'Run',
    invocationMessage: 'Run it',
    status: 'pending-confirmation',
  },
}
const key = (text: string) => ({ name: 'text', text }) as const

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/**
 * A prompt on a terminal that shows keys. `drawn` draws its rows, as the view does some time after a change. `refusals`: the reasons
 * for which the host refuses the first answers, one for each.
 */
async function prompted(asked: Request = request, ...refusals: string[]) {
  const sent: string[] = []
  const notes: string[] = []
  const dispatch = async (_: string, { type }: { readonly type: string }) => {
    sent.push(type)
    const reason = refusals.shift()
    return reason === undefined ? { outcome: 'accepted' } : { outcome: 'refused', reason }
  }
  let changes = 0
  const prompts = new Prompts({
    // The prompts use no other members of the client and of the pane.
    client: { dispatch } as unknown as Client,
    pane: {
      moves: true,
      columns: 80,
      height: 24,
      note: (line: string) => void notes.push(line),
    } as unknown as Pane,
    style: styled(false),
    resolution: () => undefined,
    changed: () => void changes++,
  })
  prompts.update([asked])
  await vi.advanceTimersByTimeAsync(0)
  expect(notes[0]).toEqual('? Run it')
  const drawn = () => prompts.rows(80).rows.join('\n')
  return { prompts, sent, drawn, notes, changes: () => changes }
}

test('[Z6.3] a key that is pressed before the keys are shown answers nothing, and they are shown 300 ms after it', async () => {
  const { prompts, sent, drawn, changes } = await prompted()
  expect(drawn()).toBe('…')
  await vi.advanceTimersByTimeAsync(299)
  prompts.press(key('y'))
  await vi.advanceTimersByTimeAsync(299)
  expect([drawn(), prompts.armed, sent]).toEqual(['…', false, []])
  const before = changes()
  await vi.advanceTimersByTimeAsync(1)
  expect(changes()).toBe(before + 1)
  expect(drawn()).toContain('[y]')
  prompts.press(key('y'))
  expect(sent).toEqual(['chat/toolCallConfirmed'])
})

test('[Z6.3] a key that comes after the 300 ms answers nothing either, if a busy machine has not drawn the keys yet', async () => {
  const { prompts, sent, drawn } = await prompted()
  await vi.advanceTimersByTimeAsync(300)
  prompts.press(key('y'))
  expect([drawn(), sent]).toEqual(['…', []])
  await vi.advanceTimersByTimeAsync(300)
  expect(drawn()).toContain('[y]')
  prompts.press(key('n'))
  expect(sent).toEqual(['chat/toolCallConfirmed'])
})

test('[Z6.9] keys that are pressed before a further page or the second question is on the screen answer nothing', async () => {
  const toolInput = Array.from({ length: 61 }, (_, at) => `line ${at + 1}`).join('\n')
  const asked: Request = { ...request, toolCall: { ...request.toolCall, toolInput } }
  const { prompts, sent, drawn, notes } = await prompted(asked)
  const armed = async () => {
    await vi.advanceTimersByTimeAsync(300)
    return drawn()
  }
  await armed()
  for (const text of 'yyy') prompts.press(key(text))
  expect([drawn(), sent]).toEqual(['…', []])
  expect(await armed()).toContain('never on the screen')
  prompts.press(key('v'))
  prompts.press(key('y'))
  expect([drawn(), sent]).toEqual(['…', []])
  while ((await armed()).includes('[v]')) prompts.press(key('v'))
  expect(notes).toContain('  line 61')
  prompts.press(key('y'))
  expect(sent).toEqual(['chat/toolCallConfirmed'])
})

test('[Z6.4] a request that has changed is asked again', async () => {
  const { prompts, sent, drawn, notes } = await prompted()
  prompts.update([{ ...request, toolCall: { ...request.toolCall, invocationMessage: 'Run more' } }])
  await vi.advanceTimersByTimeAsync(300)
  expect(notes.slice(1)).toEqual(['  It asks for something else now:', '? Run more'])
  expect([drawn().includes('[y]'), sent]).toEqual([true, []])
})

test('[Z6.5] an answer that the host refuses is reported, and asked for again', async () => {
  const { prompts, sent, drawn, notes } = await prompted(request, 'too late')
  for (const answers of [1, 2]) {
    await vi.advanceTimersByTimeAsync(300)
    expect(drawn()).toContain('[y]')
    prompts.press(key('y'))
    await vi.advanceTimersByTimeAsync(0)
    expect(sent).toHaveLength(answers)
  }
  expect(notes).toEqual(['? Run it', '  The answer was not accepted: too late', '? Run it'])
  expect(drawn()).toBe('')
})
