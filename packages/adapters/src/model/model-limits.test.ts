import { limits } from '@atrium/protocol/limits'
import { expect, test, vi } from 'vitest'
import { fakeTerminals } from '../../../host/test/fake-terminals.ts'
import { HostlessChat } from '../../../host/test/hostless-chat.ts'
import { callsIn, failureIn, agentRoom, modelRoom, textOf, world, yes } from '../../test/model-room.ts'
import { scriptedProvider } from '../../test/scripted-model.ts'
import { agentOn } from './model.ts'

const { modelSteps, modelResult, modelAskMs, modelLineMs } = limits

test('[S-57 modelSteps] at 200 requests a turn completes, [S-57 modelSteps] past 200 it fails and can be resumed', async () => {
  const calls = (count: number) => `${'call list {} ; '.repeat(count)}say done`
  const stage = new HostlessChat(agentOn([scriptedProvider()], { world }))
  expect((await stage.turn(calls(modelSteps - 1))).state).toBe('complete')
  const failed = await stage.turn(calls(modelSteps))
  expect(failureIn(failed)).toMatchObject({ errorType: 'steps', resumable: true })
  expect(textOf(await stage.resume().end())).toBe('done')
})

test('[S-57 modelResult] at 49,152 characters a result is complete, [S-57 modelResult] past 49,152 it is cut and says where to continue', async () => {
  const lines = `${'x'.repeat(1023)}\n`
  const { turn, sent } = await modelRoom({ at: lines.repeat(48), past: lines.repeat(49) })
  const result = async (name: string) => {
    await turn(`call read {"path":"${name}"} ; say so`)
    return sent().at(-1)?.text ?? ''
  }
  expect(await result('at')).toHaveLength(modelResult)
  const cut = await result('past')
  expect(cut.length).toBeLessThanOrEqual(modelResult)
  expect(cut).toContain('(There is more: read on from line 48.)')
})

test.each([
  ['[S-57 modelLineMs] at 600,000 ms a command goes on', false],
  ['[S-57 modelLineMs] past 600,000 ms it is ended, and the model gets an error', true],
])('%s', async (_, past) => {
  const provider = scriptedProvider()
  const timers: { readonly ms: number; readonly task: () => void }[] = []
  const slow = { ...world, later: (ms: number, task: () => void) => (timers.push({ ms, task }), () => {}) }
  const terminals = fakeTerminals()
  const room = await agentRoom(agentOn([provider], { world: slow }), {}, { machine: { terminals } })
  const turnId = await room.begin('call run {"command":"wait"} ; say so')
  await room.pending()
  await room.answer(0, yes)
  while (timers.length === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(timers[0]?.ms).toBe(modelLineMs)
  if (past) timers[0]?.task()
  else terminals.shells[0]?.exit(0)
  expect(callsIn(await room.ended(turnId))).toMatchObject([{ success: !past }])
  expect(terminals.shells[0]?.ended).toBe(true)
})

test.each([
  ['[S-57 modelAskMs] at 3,000 ms the list of a provider is used', false],
  ['[S-57 modelAskMs] past 3,000 ms the request is aborted', true],
])('%s', async (_, past) => {
  const clock = new AbortController()
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(clock.signal)
  const listModels = (__: unknown, signal: AbortSignal) =>
    new Promise<readonly { id: string }[]>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('late')))
      if (!past) resolve([{ id: 'new' }])
    })
  const agent = agentOn([{ ...scriptedProvider(), listModels }], { world })
  const probing = agent.probe?.()
  if (past) clock.abort()
  await probing
  expect(timeout).toHaveBeenCalledWith(modelAskMs)
  timeout.mockRestore()
  expect(agent.info.models.map(({ id }) => id)).toEqual([past ? 'mock/one' : 'mock/new'])
})
