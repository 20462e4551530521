import { expect, test } from 'vitest'
import { colouredPieces, linesIn } from './line-colours.ts'

test('[U30.2] a comment of several lines is coloured in each of them', () => {
  expect(
    linesIn([
      ['comment', '/* a\nb */'],
      ['', '\n'],
      ['keyword', 'let'],
    ]),
  ).toEqual([[['comment', '/* a']], [['comment', 'b */']], [['keyword', 'let']]])
})

test('[U30.2] a line is cut where its colour or its mark changes, and no character is lost', () => {
  const pieces = [
    { text: 'let x', changed: false },
    { text: 'y = ', changed: true },
    { text: '1', changed: false },
  ]
  const spans = [
    ['keyword', 'let'],
    ['', ' xy ='],
  ] as const
  expect(colouredPieces(pieces, spans)).toEqual([
    { text: 'let', kind: 'keyword', changed: false },
    { text: ' x', kind: '', changed: false },
    { text: 'y =', kind: '', changed: true },
    { text: ' ', kind: '', changed: true },
    { text: '1', kind: '', changed: false },
  ])
})
