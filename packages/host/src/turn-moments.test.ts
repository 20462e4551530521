import type { Action } from '@atrium/protocol/channel'
import { expect, test } from 'vitest'
import { quiet } from '../test/held.ts'
import { Puppet, until } from '../test/puppet.ts'
import { accepted, cancelled, chat, chatOf, delta, part, scene, started, turn } from '../test/scene.ts'
import type { Scene } from '../test/scene.ts'

// Between two of its promises an agent's turn may be ended by somebody else.

const moments = Array.from({ length: 16 }, (_, n) => n)

async function cancelledAfter(all: Scene, promises: number): Promise<void> {
  for (let n = 0; n < promises; n++) await Promise.resolve()
  const channel = all.core().log.channel(chat)
  if (channel && chatOf(all).activeTurn && (channel.head as { activeTurn?: object }).activeTurn)
    all.core().log.append(channel, cancelled('t1') as Action)
  await quiet()
}

const told = ({ ben }: Scene) =>
  ben.envelopes.flatMap(({ channel, action }) => (channel === chat ? [action.type] : []))

test.each(moments)(
  '[H9] a turn that is cancelled %i promises after its agent ended it ends once',
  async (n) => {
    const all = await scene()
    const run = await turn(all, 't1')
    run.end()
    await cancelledAfter(all, n)
    expect(chatOf(all).turns).toHaveLength(1)
    expect(told(all).filter((type) => /Complete|Cancelled|error/.test(type))).toHaveLength(1)
  },
)

test.each(moments)('[H9] a turn that is cancelled %i promises after a word says nothing later', async (n) => {
  const all = await scene()
  const run = await turn(all, 't1', part('p'))
  run.say(delta('p', 'a'), delta('p', 'b'), delta('p', 'c'))
  await cancelledAfter(all, n)
  expect(told(all).at(-1)).toBe('chat/turnCancelled')
  expect(all.ben.state(chat)).toMatchObject({ turns: chatOf(all).turns })
})

test('[H9] I14: an agent that never stops is not asked again once its turn is over, and others are heard meanwhile', async () => {
  let said = 0
  let left = false
  async function* run() {
    try {
      yield part('p')
      for (;;) {
        said++
        yield delta('p', 'x')
      }
    } finally {
      left = true
    }
  }
  const all = await scene(Object.assign(new Puppet(), { run }))
  await accepted(all.ann, chat, started('t1'))
  await until(() => said > 200)
  await accepted(all.ann, chat, cancelled('t1'))
  await until(() => left)
  const before = said
  await quiet()
  expect(said).toBe(before)
})
