import { expect, test } from 'vitest'
import { manualTimers } from '../../../test/acp.ts'
import { IdleProcesses } from './idle-processes.ts'

function idleProcesses(most = 2) {
  const { later, pass, timers } = manualTimers()
  const ended: string[] = []
  const processes = new IdleProcesses(later, { idleMs: 1000, most })
  const process = (name: string) => ({ end: async () => void ended.push(name) })
  return { processes, process, ended, pass, timers }
}

test('[N40.2] an idle process is ended after a time, unless it is used again', () => {
  const { processes, process, ended, pass, timers } = idleProcesses()
  const [a, b] = [process('a'), process('b')]
  processes.add(a)
  processes.add(b)
  processes.remove(b)
  pass(999)
  expect(ended).toEqual([])
  pass(1000)
  expect([ended, timers.size]).toEqual([['a'], 0])
})

test('[N40.2] of too many idle processes, the one that was used least recently is ended', () => {
  const { processes, process, ended, timers } = idleProcesses()
  const [a, b, c] = [process('a'), process('b'), process('c')]
  for (const each of [a, b, a, c]) processes.add(each)
  expect([ended, timers.size]).toEqual([['b'], 2])
})

test('[N40.2] with the limit 0 no idle process is kept', () => {
  const { processes, process, ended } = idleProcesses(0)
  processes.add(process('a'))
  expect(ended).toEqual(['a'])
})
