import type { Annotation } from '@atrium/protocol/annotations/state'
import { expect, test } from 'vitest'
import { reviewMessage, unansweredComments } from './review-message.ts'

const comment = (id: string, more: Partial<Annotation> = {}, provider?: string): Annotation => ({
  id,
  origin: { session: 'ahp-session:/1' },
  resource: 'file:///srv/shop/src/app.py',
  resolved: false,
  entries: [
    {
      id: `${id}-1`,
      text: `text of ${id}`,
      ...(provider !== undefined && { _meta: { 'x-atrium': { author: { provider } } } }),
    },
  ],
  ...more,
})
const lines = (first: number, last: number) => ({
  range: { start: { line: first, character: 0 }, end: { line: last, character: 3 } },
})

test('[U31.1] comments that are resolved, or that an agent has answered, are not sent', () => {
  const all = [comment('open'), comment('done', { resolved: true }), comment('answered', {}, 'guide')]
  expect(unansweredComments(all).map(({ id }) => id)).toEqual(['open'])
})

test('[U31.1] the message has each comment with its file and lines, and attaches all of them', () => {
  const all = [comment('a', lines(11, 11)), comment('b', lines(2, 4)), comment('c')]
  const { text, attachments } = reviewMessage('ahp-session:/1', all, ['file:///srv/shop'])
  expect(text.split('\n').slice(2)).toEqual([
    '- src/app.py:12: text of a',
    '- src/app.py:3-5: text of b',
    '- src/app.py: text of c',
  ])
  expect(attachments).toMatchObject([{ type: 'annotations', annotationIds: ['a', 'b', 'c'] }])
})
