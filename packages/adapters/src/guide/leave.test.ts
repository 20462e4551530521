import { expect, test } from 'vitest'
import { fakeTerminals } from '../../../host/test/fake-terminals.ts'
import { agentRoom, callsIn, later, world, yes } from '../../test/model-room.ts'
import { scriptedProvider } from '../../test/scripted-model.ts'
import { agentOn } from '../model/model.ts'
import { guide } from './guide.ts'

test.each([
  ['guide', guide(later), 'leave npm run dev'],
  [
    'model agent',
    agentOn([scriptedProvider()], { world, platform: 'test' }),
    'call leave {"command":"npm run dev"} ; say done',
  ],
])(
  '[H50.3] the %s leaves a command running, and its call has what the command has written',
  async (_, agent, text) => {
    const terminals = fakeTerminals()
    const { host, begin, pending, answer, until, ended, state } = await agentRoom(
      agent,
      {},
      { machine: { terminals } },
    )
    const turnId = await begin(text)
    await pending()
    await answer(0, yes)
    await until(({ backgroundWork = [] }) => backgroundWork.length === 1)
    terminals.shells[0]?.data('ready in 5 ms\r\n')
    await host.core().log.settled()
    host.world.advance(2000)
    const content = JSON.stringify(callsIn(await ended(turnId))[0])
    expect(content).toContain(
      String.raw`ready in 5 ms\n[It runs on in the background; everybody can watch and end it.]`,
    )
    expect(state().backgroundWork).toMatchObject([{ kind: 'shell', command: 'npm run dev' }])
    expect(terminals.shells[0]?.ended).toBe(false)
    await host.host().close()
  },
)
