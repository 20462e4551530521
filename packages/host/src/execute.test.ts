import { expect, test } from 'vitest'
import { begun, call, confirmed, ready } from '../test/calls.ts'
import { quiet } from '../test/held.ts'
import { Puppet } from '../test/puppet.ts'
import { accepted, cancelled, chat, scene, turn } from '../test/scene.ts'
import { fakeTerminals } from '../test/shells.ts'
import { terminals as terminalsOf } from './terminal-list.ts'

test('[X4] a turn that is cancelled while its terminal is made runs nothing, and leaves no terminal', async () => {
  const terminals = fakeTerminals()
  const tasks: (() => void)[] = []
  let holding = false
  const soon = (task: () => void) => (holding ? void tasks.push(task) : queueMicrotask(task))
  const all = await scene(new Puppet(), { machine: { terminals }, soon })
  const run = await turn(all, 't1', begun(), ready())
  await accepted(all.ann, chat, confirmed)
  holding = true
  const refused = expect(run.chat.run({ ...call, line: 'rm -r x' })).rejects.toThrow('over')
  await quiet()
  expect(terminalsOf(all.core())).toHaveLength(1)
  all.ann.dispatch(chat, cancelled('t1'))
  await quiet()
  holding = false
  for (const task of tasks.splice(0)) task()
  await refused
  expect(terminals.shells).toEqual([])
  await quiet()
  expect(terminalsOf(all.core())).toHaveLength(0)
})
