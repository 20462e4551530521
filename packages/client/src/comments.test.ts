import { expect, test } from 'vitest'
import { hostAndClients } from '../test/host-and-clients.ts'
import { sessionComments } from './comments.ts'

const session = 's:/1'

test('[U13] a client comments, answers, resolves and removes; another one sees it, also after a lost link', async () => {
  const all = await hostAndClients()
  const [ann, ben] = [all.client('ann'), all.client('ben')]
  await ann.ask('createSession', { channel: session })
  const [mine, others] = [sessionComments(ann, session), sessionComments(ben, session)]
  expect(await mine.ready()).toEqual([])
  await others.ready()
  const id = await mine.add({ resource: 'git:/a.ts', text: 'why?', turnId: 't1' })
  await mine.reply(id, { markdown: '*so*' })
  await mine.resolve(id)
  await others.channel.until(({ annotations }) => annotations[0]?.resolved === true)
  expect(others.all).toMatchObject([
    {
      id,
      origin: { session, turnId: 't1' },
      resource: 'git:/a.ts',
      entries: [{ text: 'why?' }, { text: { markdown: '*so*' } }],
    },
  ])
  expect(others.all).toEqual(mine.all)
  await mine.remove(id)
  await others.channel.until(({ annotations }) => annotations.length === 0)
  for (const each of [mine, others]) each.release()
})

test('[U13] a change that the host refuses rejects with its reason, and the state is as before', async () => {
  const all = await hostAndClients()
  const ann = all.client('ann')
  await ann.ask('createSession', { channel: session })
  const mine = sessionComments(ann, session)
  await mine.ready()
  await expect(mine.reply('nx', 'hello')).rejects.toThrow('there is no annotation "nx"')
  await expect(mine.add({ resource: 'file:///etc/passwd', text: '' })).rejects.toThrow('granted')
  expect(mine.all).toEqual([])
})
