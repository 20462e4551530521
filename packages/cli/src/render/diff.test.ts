import { expect, test } from 'vitest'
import { styled } from '../terminal/output.ts'
import { diffLines } from './diff.ts'

const style = styled(false)
const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}\n`)

test('[Z6] a diff shows removed and added lines with two lines of context', () => {
  const before = lines(20)
  const after = before.with(3, 'three\n').toSpliced(15, 1)
  expect(diffLines({ path: '/a', before: before.join(''), after: after.join('') }, style)).toEqual([
    '  ─── /a (changed)',
    '  …',
    '    line 1',
    '    line 2',
    '  - line 3',
    '  + three',
    '    line 4',
    '    line 5',
    '  …',
    '    line 13',
    '    line 14',
    '  - line 15',
    '    line 16',
    '    line 17',
    '  …',
  ])
})

test('[Z6] a diff of a new file, a deleted file, a long file, and a file with escape sequences', () => {
  expect(diffLines({ path: '/a', after: 'x\u001b[2J\n' }, style)).toEqual([
    '  ─── /a (new file)',
    '  + x\ufffd[2J',
  ])
  expect(diffLines({ path: '/a', before: 'x\n' }, style)).toEqual(['  ─── /a (deleted)', '  - x'])
  const long = diffLines({ path: '/a', after: lines(5000).join('') }, style)
  expect(long).toHaveLength(5001)
  const other = lines(5000).map((line) => `other ${line}`)
  expect(diffLines({ path: '/a', before: lines(5000).join(''), after: other.join('') }, style)).toHaveLength(
    10_001,
  )
})
