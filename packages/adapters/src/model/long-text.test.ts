import { expect, test } from 'vitest'
import { callsIn, modelRoom, yes } from '../../test/model-room.ts'

// The length of a chat's state is limited. Text and tool input beyond the limit are stored outside the state (Q10).

const limits = { turnLength: 20_000, stateLength: 200_000 }

test('[N21] a model whose text has no room in the state, and that then calls a tool, goes on', async () => {
  const { begin, ended, until, answer } = await modelRoom({}, { limits })
  const turnId = await begin(`say ${'x'.repeat(15_000)} ; call run {"command":"a"} ; say done`)
  await until(({ activeTurn }) => callsIn(activeTurn)[0]?.status === 'pending-confirmation')
  await answer(0, yes)
  expect((await ended(turnId)).state).toBe('complete')
})

test('[N23] [Q10.7] an approved call whose input is a reference runs', async () => {
  const { begin, ended, pending, answer, terminals } = await modelRoom({}, { limits })
  const turnId = await begin(`call run {"command":"echo ${'y'.repeat(11_000)}"} ; say done`)
  const call = await pending()
  expect('toolInput' in call && call.toolInput).toMatchObject({ contentType: 'text/plain; charset=utf-8' })
  await answer(0, yes)
  await ended(turnId)
  expect(terminals.shells).toHaveLength(1)
})

test('[N21] [Q10.7] an earlier answer that is a reference reaches the model', async () => {
  const { turn, sent } = await modelRoom({}, { limits: { ...limits, turnLength: 500 } })
  await turn('say the answer is forty-two and some more words '.padEnd(600, 'z'))
  await turn('say next')
  expect(JSON.stringify(sent().filter(({ role }) => role === 'assistant'))).toContain('zzz')
})
