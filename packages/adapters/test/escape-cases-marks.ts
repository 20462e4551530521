import type { Mark } from '../src/terminals/output-part.ts'
import { between, gone } from './escape-case.ts'
import type { Escape } from './escape-case.ts'

const placed = (text: string, cwd: string): Escape => ({
  name: `directory ${JSON.stringify(text)}`,
  in: `a\x1b]${text}\x07b`,
  out: 'ab',
  also: [{ cwd }],
})
const marked = (text: string, mark: Mark): Escape => ({
  name: `mark ${JSON.stringify(text)}`,
  in: `a\x1b]${text}\x07b`,
  out: 'ab',
  also: [{ mark }],
})

/** What shells say of themselves. */
export const marks: readonly Escape[] = [
  placed('7;file:///home/ann', 'file:///home/ann'),
  placed('7;file://localhost/a%20b', 'file:///a%20b'),
  placed('7;file://HERE/caf%C3%A9', 'file:///caf%C3%A9'),
  placed('7;file:///a b#ü', 'file:///a%20b%23%C3%BC'),
  placed('1337;CurrentDir=/a;b', 'file:///a%3Bb'),
  placed('633;P;Cwd=/a\\x3bb\\\\c', 'file:///a%3Bb%5Cc'),
  placed('633;P;Cwd=C:\\\\Users\\\\ann', 'file:///C%3A/Users/ann'),
  ...gone(
    'OSC 7',
    between('\x1b]7;', 'file://there/home file:///% http://here/x /home file:relative', '\x07'),
  ),
  ...gone('OSC 633', between('\x1b]633', ';P;Cwd=relative ;P;IsWindows=True ;P ;F ;Env ; ;B ;a', '\x07')),
  ...['133', '633'].flatMap((osc) => [
    marked(`${osc};A`, { at: 'prompt' }),
    marked(`${osc};A;k=s`, { at: 'prompt' }),
    marked(`${osc};C`, { at: 'executed' }),
    marked(`${osc};D`, { at: 'finished' }),
    marked(`${osc};D;0`, { at: 'finished', exitCode: 0 }),
    marked(`${osc};D;130;aid=1`, { at: 'finished', exitCode: 130 }),
    marked(`${osc};D;-1`, { at: 'finished', exitCode: -1 }),
    marked(`${osc};D;1e9`, { at: 'finished' }),
  ]),
  marked('633;E;echo a\\x3b b\\\\n\\x0aecho c', { at: 'line', line: 'echo a; b\\n\necho c' }),
  marked('633;E;a\\x1b[31m\\x07\\x9bb\\x09c', { at: 'line', line: 'a[31mb\tc' }),
  marked('133;C;cmdline_url=echo%20%C3%BC%3B', { at: 'executed', line: 'echo ü;' }),
  marked('133;C;cmdline_url=%', { at: 'executed' }),
]
