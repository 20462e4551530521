import type { Client } from '@atrium/client/client'
import type { ToolCallPendingConfirmation, ToolCallPendingResult } from '@atrium/protocol/chat/tool'
import { choices } from '@atrium/host/access/choices'
import { expect, test } from 'vitest'
import type { Pane } from '../render/pane.ts'
import type { Request } from '../session/pending-requests.ts'
import { styled } from '../terminal/output.ts'
import { Preapproved } from './preapproved.ts'
import { Prompts } from './prompts.ts'

const named = { toolCallId: 'c', toolName: 'run', displayName: 'Run', invocationMessage: 'Run' } as const
const call: ToolCallPendingConfirmation = {
  ...named,
  status: 'pending-confirmation',
  options: [{ id: choices.session, label: 'In this session', kind: 'approve' }],
}
const result: ToolCallPendingResult = {
  ...named,
  status: 'pending-result-confirmation',
  success: true,
  pastTenseMessage: 'Ran',
  confirmed: 'user-action',
}
const request = (toolCall: typeof call | typeof result): Request => ({
  kind: 'toolConfirmation',
  id: 'chat#call-c',
  chat: 'chat',
  turnId: 't',
  toolCall,
})

/** A client that records the types of its actions. Every action is accepted. */
function recorder() {
  const sent: string[] = []
  const dispatch = async (_: string, { type }: { readonly type: string }) => {
    sent.push(type)
    return { outcome: 'accepted' }
  }
  // The tested classes use no other member.
  return { sent, client: { dispatch } as unknown as Client }
}

const both = ['chat/toolCallConfirmed', 'chat/toolCallResultConfirmed']

test.each(['once', 'session'] as const)(
  '[Z7.1] --allow %s approves a call, and then its result, each one time',
  (scope) => {
    const { sent, client } = recorder()
    const preapproved = new Preapproved(client, scope, () => {})
    for (const each of [call, call, result, result]) expect(preapproved.answer(request(each))).toBe(true)
    expect(sent).toEqual(both)
  },
)

test('[Z6.6] a result is asked about even if the call that asked before was not seen to run', async () => {
  const { sent, client } = recorder()
  const notes: string[] = []
  const pane = { moves: false, columns: 80, note: (line: string) => void notes.push(line) } as unknown as Pane
  const style = styled(false)
  const prompts = new Prompts({ client, pane, style, resolution: () => undefined, changed: () => {} })
  for (const [each, key] of [
    [call, 's'],
    [result, 'y'],
  ] as const) {
    prompts.update([request(each)])
    await expect.poll(() => prompts.open).toBe(true)
    prompts.line(key)
  }
  expect(sent).toEqual(both)
  expect(notes).toContain('? Use the result: Ran')
})
