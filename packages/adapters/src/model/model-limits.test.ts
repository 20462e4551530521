import { limits } from '@atrium/protocol/limits'
import { expect, test, vi } from 'vitest'
import { fakeTerminals } from '../../../host/test/shells.ts'
import { Stage } from '../../../host/test/stage.ts'
import { callsIn, failureIn, houseOf, modelHouse, textOf, world, yes } from '../../test/model-house.ts'
import { scriptedVendor } from '../../test/scripted-model.ts'
import { agentWith } from './model.ts'

const { modelSteps, modelResult, modelAskMs, modelLineMs } = limits

test('[S-57 modelSteps] at 200 requests a turn ends well, [S-57 modelSteps] past 200 it fails, and is gone on with', async () => {
  const calls = (count: number) => `${'call list {} ; '.repeat(count)}say done`
  const stage = new Stage(agentWith([scriptedVendor()], { world }))
  expect((await stage.turn(calls(modelSteps - 1))).state).toBe('complete')
  const failed = await stage.turn(calls(modelSteps))
  expect(failureIn(failed)).toMatchObject({ errorType: 'steps', resumable: true })
  expect(textOf(await stage.resume().end())).toBe('done')
})

test('[S-57 modelResult] at 49,152 characters a result is whole, [S-57 modelResult] past 49,152 it says where it goes on', async () => {
  const lines = `${'x'.repeat(1023)}\n`
  const { turn, heard } = await modelHouse({ at: lines.repeat(48), past: lines.repeat(49) })
  const result = async (name: string) => {
    await turn(`call read {"path":"${name}"} ; say so`)
    return heard().at(-1)?.text ?? ''
  }
  expect(await result('at')).toHaveLength(modelResult)
  const cut = await result('past')
  expect(cut.length).toBeLessThanOrEqual(modelResult)
  expect(cut).toContain('(There is more: read on from line 48.)')
})

test.each([
  ['[S-57 modelLineMs] at 600,000 ms a line goes on', false],
  ['[S-57 modelLineMs] past 600,000 ms it is ended, and the model is told', true],
])('%s', async (_, past) => {
  const vendor = scriptedVendor()
  const timers: { readonly ms: number; readonly task: () => void }[] = []
  const slow = { ...world, later: (ms: number, task: () => void) => (timers.push({ ms, task }), () => {}) }
  const terminals = fakeTerminals()
  const house = await houseOf(agentWith([vendor], { world: slow }), {}, { machine: { terminals } })
  const turnId = await house.begin('call run {"command":"wait"} ; say so')
  await house.pending()
  await house.answer(0, yes)
  while (timers.length === 0) await new Promise((resolve) => setImmediate(resolve))
  expect(timers[0]?.ms).toBe(modelLineMs)
  if (past) timers[0]?.task()
  else terminals.shells[0]?.exit(0)
  expect(callsIn(await house.ended(turnId))).toMatchObject([{ success: !past }])
  expect(terminals.shells[0]?.ended).toBe(true)
})

test.each([
  ['[S-57 modelAskMs] at 3,000 ms what a vendor says is heard', false],
  ['[S-57 modelAskMs] past 3,000 ms it is waited for no longer', true],
])('%s', async (_, past) => {
  const clock = new AbortController()
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(clock.signal)
  const ask = (__: unknown, signal: AbortSignal) =>
    new Promise<readonly { id: string }[]>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('late')))
      if (!past) resolve([{ id: 'new' }])
    })
  const agent = agentWith([{ ...scriptedVendor(), ask }], { world })
  const probing = agent.probe?.()
  if (past) clock.abort()
  await probing
  expect(timeout).toHaveBeenCalledWith(modelAskMs)
  timeout.mockRestore()
  expect(agent.info.models.map(({ id }) => id)).toEqual([past ? 'mock/one' : 'mock/new'])
})
