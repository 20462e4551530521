import type { CommandMark } from '../src/terminals/output-part.ts'
import { between, removed } from './escape-case.ts'
import type { EscapeCase } from './escape-case.ts'

const reportsCwd = (text: string, cwd: string): EscapeCase => ({
  name: `directory ${JSON.stringify(text)}`,
  in: `a\x1b]${text}\x07b`,
  out: 'ab',
  also: [{ cwd }],
})
const sendsMark = (text: string, mark: CommandMark): EscapeCase => ({
  name: `mark ${JSON.stringify(text)}`,
  in: `a\x1b]${text}\x07b`,
  out: 'ab',
  also: [{ mark }],
})

/** Cases of shell integration: directories and command marks. */
export const marks: readonly EscapeCase[] = [
  reportsCwd('7;file:///home/ann', 'file:///home/ann'),
  reportsCwd('7;file://localhost/a%20b', 'file:///a%20b'),
  reportsCwd('7;file://HERE/caf%C3%A9', 'file:///caf%C3%A9'),
  reportsCwd('7;file:///a b#ü', 'file:///a%20b%23%C3%BC'),
  reportsCwd('1337;CurrentDir=/a;b', 'file:///a%3Bb'),
  reportsCwd('633;P;Cwd=/a\\x3bb\\\\c', 'file:///a%3Bb%5Cc'),
  reportsCwd('633;P;Cwd=C:\\\\Users\\\\ann', 'file:///C%3A/Users/ann'),
  ...removed(
    'OSC 7',
    between('\x1b]7;', 'file://there/home file:///% http://here/x /home file:relative', '\x07'),
  ),
  ...removed('OSC 633', between('\x1b]633', ';P;Cwd=relative ;P;IsWindows=True ;P ;F ;Env ; ;B ;a', '\x07')),
  ...['133', '633'].flatMap((osc) => [
    sendsMark(`${osc};A`, { at: 'prompt' }),
    sendsMark(`${osc};A;k=s`, { at: 'prompt' }),
    sendsMark(`${osc};C`, { at: 'executed' }),
    sendsMark(`${osc};D`, { at: 'finished' }),
    sendsMark(`${osc};D;0`, { at: 'finished', exitCode: 0 }),
    sendsMark(`${osc};D;130;aid=1`, { at: 'finished', exitCode: 130 }),
    sendsMark(`${osc};D;-1`, { at: 'finished', exitCode: -1 }),
    sendsMark(`${osc};D;1e9`, { at: 'finished' }),
  ]),
  sendsMark('633;E;echo a\\x3b b\\\\n\\x0aecho c', { at: 'line', line: 'echo a; b\\n\necho c' }),
  sendsMark('633;E;a\\x1b[31m\\x07\\x9bb\\x09c', { at: 'line', line: 'a[31mb\tc' }),
  sendsMark('133;C;cmdline_url=echo%20%C3%BC%3B', { at: 'executed', line: 'echo ü;' }),
  sendsMark('133;C;cmdline_url=%', { at: 'executed' }),
]
