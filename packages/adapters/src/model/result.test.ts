import { expect, test } from 'vitest'
import { fakeTerminals } from '../../../host/test/fake-terminals.ts'
import { callsIn, modelRoom, textOf, yes } from '../../test/model-room.ts'

const base64 = 'MIIEvQIBADANBgkqhkiG9w0BAQ'
const keys = [
  `-----BEGIN PRIVATE KEY-----\n${base64}\n-----END PRIVATE KEY-----`,
  `a\r\n-----BEGIN OPENSSH PRIVATE KEY-----\r\n${base64}`,
  `{"private_key":"-----BEGIN RSA PRIVATE KEY-----\\n${base64}\\n"}`,
  '-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n',
  `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${base64}`,
]

type Room = Awaited<ReturnType<typeof modelRoom>>

/** Waits until a result asks, and decides about it. */
async function decide({ until, state, dispatch }: Room, approved: boolean): Promise<void> {
  const asking = () =>
    callsIn(state().activeTurn).find(({ status }) => status === 'pending-result-confirmation')
  await until(() => asking() !== undefined)
  const { toolCallId = '' } = asking() ?? {}
  const { id: turnId = '' } = state().activeTurn ?? {}
  const action = { type: 'chat/toolCallResultConfirmed', turnId, toolCallId, approved }
  expect(await dispatch(action)).toBeUndefined()
}

test.each(keys)(
  '[N23.5] a file with a private key: the model gets it only if a user confirms: %j',
  async (text) => {
    for (const approved of [true, false]) {
      const room = await modelRoom({ 'notes.txt': text })
      const turnId = await room.begin('call read {"path":"notes.txt"} ; say seen')
      await decide(room, approved)
      const turn = await room.ended(turnId)
      expect([turn.state, textOf(turn)]).toEqual(['complete', 'seen'])
      expect(callsIn(turn)).toMatchObject([
        approved ? { status: 'completed' } : { status: 'cancelled', reason: 'result-denied' },
      ])
      const denied = 'This was done, but the user did not allow you to see the result.'
      expect(room.sent().at(-1)).toEqual({ role: 'tool', text: approved ? text : denied })
      if (!approved) expect(JSON.stringify(room.provider.model.doStreamCalls)).not.toContain('PRIVATE KEY')
    }
  },
)

test('[N23.5] other results need no confirmation: a header without a key, and a file that a user has approved', async () => {
  const header = 'const begin = "-----BEGIN PRIVATE KEY-----"'
  const room = await modelRoom({ 'a.ts': `${header}\n`, 'b.ts': header, '.env': keys[0] ?? '' })
  expect(callsIn(await room.turn('call read {"path":"a.ts"} ; say so'))).toMatchObject([{ success: true }])
  const search = await room.turn('call search {"text":"PRIVATE KEY"} ; say so')
  expect(callsIn(search)).toMatchObject([{ status: 'completed' }])
  const turnId = await room.begin('call read {"path":".env"} ; say so')
  await room.pending()
  await room.answer(0, yes)
  expect(callsIn(await room.ended(turnId))).toMatchObject([{ status: 'completed' }])
  expect(room.sent().at(-1)?.text).toBe(keys[0])
})

test('[N23.5] the output of a command with a key asks too, and the decision may come after a restart', async () => {
  const terminals = fakeTerminals((shell) => {
    shell.data((keys[0] ?? '').replaceAll('\n', '\r\n'))
    shell.exit(1)
  })
  const machine = { terminals }
  const room = await modelRoom({}, { machine })
  const turnId = await room.begin('call run {"command":"cat key"} & call list {} ; say so')
  await room.pending()
  await room.answer(0, yes)
  await room.until(({ activeTurn }) =>
    callsIn(activeTurn).some(({ status }) => status === 'pending-result-confirmation'),
  )
  await room.host.restart('crash')
  const ben = await room.again()
  await decide({ ...room, ...ben }, false)
  const turn = await ben.ended(turnId)
  expect(callsIn(turn).map(({ status }) => status)).toEqual(['cancelled', 'completed'])
  expect(terminals.shells).toHaveLength(1)
  const sent = JSON.stringify(room.provider.model.doStreamCalls)
  expect([sent.includes(base64), sent.includes('did not allow you to see the result')]).toEqual([false, true])
})
