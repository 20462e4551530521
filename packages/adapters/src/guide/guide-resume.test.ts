import type { ResponsePart, Turn } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { HostlessChat } from '../../../host/test/hostless-chat.ts'
import { guide } from './guide.ts'

/** A timer that fires as soon as the event loop is idle, whatever the delay. */
const later = (_: number, task: () => void) => {
  const immediate = setImmediate(task)
  return () => clearImmediate(immediate)
}
const stage = () => new HostlessChat(guide(later))

test('[N6] long 3000, interrupted at the 1,200th word: only the rest is streamed', async () => {
  const all = stage()
  const run = all.begin('long 3000')
  for (let i = 0; i < 1201; i++) await run.step(i === 1200)
  await run.cut()
  const again = all.resume()
  const turn = await again.end()
  expect(again.said.filter(({ type }) => type === 'chat/delta')).toHaveLength(1801)
  expect(again.said.filter(({ type }) => type === 'chat/responsePart')).toEqual([])
  expect(textOf(turn)).toBe(textOf(await stage().turn('long 3000')))
})

test('[N6] a turn that was interrupted after its last action adds nothing', async () => {
  const all = stage()
  const run = all.begin('plan')
  while (await run.step());
  await run.cut()
  const again = all.resume()
  expect((await again.end()).state).toBe('complete')
  expect(again.said).toEqual([])
})

test('[N6.1] [N6] an interrupted call is repeated under another id; a finished call is not', async () => {
  const all = stage()
  const run = all.begin('spawn say hello')
  for (let i = 0; i < 3; i++) await run.step()
  await run.cut()
  const again = all.resume()
  while (again.said.at(-1)?.type !== 'chat/toolCallComplete' && (await again.step()));
  await again.cut()
  const { responseParts } = await all.resume().end()
  expect(responseParts.map(outline)).toEqual([
    'turn-1-1 cancelled',
    'error',
    'turn-1-3 completed',
    'error',
    'markdown',
  ])
  expect(all.workers).toHaveLength(2)
})

test('[N6] fail, interrupted before it failed, still fails once', async () => {
  const all = stage()
  const run = all.begin('fail')
  await run.step()
  await run.cut()
  expect((await all.resume().end()).state).toBe('error')
  expect((await all.resume().end()).state).toBe('complete')
})

test('[N6.1] [N6] a resumed turn keeps the tone in which it began', async () => {
  const all = stage()
  const run = all.begin('help')
  for (let i = 0; i < 9; i++) await run.step()
  await run.cut()
  all.session = {
    ...all.session,
    config: { schema: { type: 'object', properties: {} }, values: { 'guide.tone': 'brief' } },
  }
  expect(textOf(await all.resume().end())).toBe(textOf(await stage().turn('help')))
})

test('[N6.3] [N6] a turn that no script matches is answered after its existing parts', async () => {
  const all = stage()
  const run = all.begin('say hello')
  all.fold({
    type: 'chat/responsePart',
    turnId: 'turn-1',
    part: { kind: 'markdown', id: 'old', content: 'hi ' },
  })
  expect(textOf(await run.end())).toBe('hi hello')
})

function textOf(turn: Turn): string {
  return turn.responseParts.map((part) => (part.kind === 'markdown' ? part.content : '')).join('')
}

function outline(part: ResponsePart): string {
  return part.kind === 'toolCall' ? `${part.toolCall.toolCallId} ${part.toolCall.status}` : part.kind
}
