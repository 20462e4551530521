import { expect, test } from 'vitest'
import type { Said } from './conversation.ts'
import { remaining } from './script.ts'

const script = '[[run:one]][[say:between]][[run:two]][[say:end]]'
const asked: Said = { by: 'person', text: script }
const result = (call: string, text = 'ok'): Said => ({ by: 'tool', call, text })
const words = (...said: Said[]) => remaining({ tools: [], said })?.map(({ text }) => text)

test('[B40] what is left of a script is what follows the calls that were answered', () => {
  expect(words(asked)).toEqual(['one', 'between', 'two', 'end'])
  expect(words(asked, result('a'))).toEqual(['between', 'two', 'end'])
  expect(words(asked, result('a'), result('b'))).toEqual(['end'])
  expect(words(asked, result('a'), result('b'), result('c'))).toEqual([])
  expect(words({ by: 'person', text: 'hello' })).toBeUndefined()
})

test('[B40] a later message without a script goes on with it, one with a script begins another', () => {
  const goOn: Said = { by: 'person', text: 'Go on.' }
  expect(words(asked, result('a'), goOn)).toEqual(['between', 'two', 'end'])
  expect(words(asked, result('a'), { by: 'person', text: '[[say:new]]' })).toEqual(['new'])
})

test('[B40] a result that is told twice counts once', () => {
  expect(words(asked, result('a'), result('a'))).toEqual(['between', 'two', 'end'])
})

test('[B40] a call that was not carried out is over, until somebody says to go on', () => {
  const denied = result('a', 'The tool use was rejected.')
  const reminder: Said = { by: 'person', text: '[Request interrupted]' }
  expect(words(asked, denied, reminder)).toEqual(['between', 'two', 'end'])
  const goOn: Said = { by: 'person', text: 'Allowed meanwhile.' }
  expect(words(asked, denied, reminder, goOn)).toEqual(['one', 'between', 'two', 'end'])
  expect(words(asked, result('a', 'aborted'), goOn)).toEqual(['one', 'between', 'two', 'end'])
})

test('[B40] what a transcript before the script says to be done is not done again', () => {
  const before = `What was said:\n\n# User\n\n${script}\n\n# Agent\n\n[Run: one (done)]\n\n[Error: stopped]`
  expect(words({ by: 'person', text: before }, asked)).toEqual(['between', 'two', 'end'])
  expect(words({ by: 'person', text: '[Run: one (done)]' }, asked)).toEqual(['one', 'between', 'two', 'end'])
})
