import { expect, test } from 'vitest'
import type { Token } from 'marked'
import { Blocks } from './blocks.ts'
import type { Block } from './blocks.ts'
import { decoded } from './entities.ts'
import { spansOf } from '../ui/highlight/highlight-spans.ts'
import { otherHost, safeImage, safeLink } from './safe-link.ts'

const text = `# Title

A paragraph with **bold** text.

- one
- two

  more of two

\`\`\`js
let a = 1

let b = 2
\`\`\`

| a | b |
| - | - |
| 1 | 2 |

The end.`

test('[U18] a text that grows character by character has the blocks of the whole text at its end', () => {
  const grown = new Blocks()
  for (let length = 1; length <= text.length; length++) grown.of(text.slice(0, length), true)
  const types = (blocks: ReturnType<Blocks['of']>) =>
    blocks.map(({ token: { type, raw } }) => [type, raw.trim()])
  expect(types(grown.of(text, false))).toEqual(types(new Blocks().of(text, false)))
  expect(grown.of(text, false).map(({ token }) => token.type)).toEqual([
    'heading',
    'paragraph',
    'list',
    'code',
    'table',
    'paragraph',
  ])
})

test.each([
  text,
  'plain words, and more of them; then a [link](https://example.org/a b) and www.example.org then mail a@b.co, and on',
  'a & b &amp; c &lt tail **bold words here** and *more of it, x* `code words` then 2 * 3 words_with_marks and end',
  'first line\nsecond line of words\nSetext of words\n===\n\n    indented words\n\n> quoted words and more',
  'sum \\(x_1\\) and $a*b*$ words[^1] for $5\n\n$$\na_1 words\n$$\n\n[^1]: a note of words\n[^2]: next words',
  '<b>words in html</b> and <div>\nblock of words\n</div>\n\nhttps://example.org/words and words ~~gone words~~',
])('[U18] a text that grows in small pieces is read like one that is there at once: %#', (whole) => {
  for (const size of [1, 2, 3, 7]) {
    const growing = new Blocks()
    for (let end = size; end < whole.length + size; end += size) {
      const prefix = whole.slice(0, end)
      const seen = growing.of(prefix, true).map(shape)
      expect({ prefix, seen }).toEqual({ prefix, seen: new Blocks().of(prefix, true).map(shape) })
    }
  }
})

/** What is drawn of a block. White space at its end is not. */
function shape({ token, open }: Block): string {
  return JSON.stringify([open, drawn(token)]).replaceAll(/(?:\\n| )+("\]+)$/g, '$1')
}

function drawn(token: Token): unknown {
  const parts =
    'tokens' in token && token.tokens ? token.tokens.map(drawn) : 'text' in token ? token.text : token.raw
  return [token.type, parts]
}

test('[U18] closed blocks keep their objects while the last one grows, so that only the last is drawn again', () => {
  const blocks = new Blocks()
  const before = blocks.of(text, true)
  const after = blocks.of(`${text} And more.\n\nNew`, true)
  expect(after.length).toBe(before.length + 1)
  for (const [at, block] of before.slice(0, -1).entries()) expect(after[at]).toBe(block)
})

test('[U18] unfinished marks of the open block are completed, those of an open fence are not', () => {
  const last = (streamed: string) => new Blocks().of(streamed, true).at(-1)
  expect(last('some **bold')).toMatchObject({ open: true, token: { raw: 'some **bold**' } })
  expect(last('```js\nlet **a')).toMatchObject({ open: true, token: { type: 'code', text: 'let **a' } })
  expect(last('```js\nlet a\n```')).toMatchObject({ open: false, token: { text: 'let a' } })
})

test('[U18] a text that is replaced is read anew', () => {
  const blocks = new Blocks()
  blocks.of('# One\n\ntwo\n\nthree', true)
  expect(blocks.of('other', false).map(({ token }) => token.raw)).toEqual(['other'])
})

test.each([
  ['https://example.org/a?b#c', true],
  ['http://example.org', true],
  ['mailto:a@example.org', true],
  ['javascript:alert(1)', false],
  ['JAVASCRIPT:alert(1)', false],
  ['java\nscript:alert(1)', false],
  ['data:text/html,x', false],
  ['file:///etc/passwd', false],
  ['vscode://open', false],
  ['//example.org', false],
  ['relative/path', false],
  ['', false],
])('[U18] %j as the address of a link: %s', (href, safe) => {
  expect(safeLink(href) !== undefined).toBe(safe)
})

test('[U18] only pictures inside the text are shown, and none that is a document of its own', () => {
  expect(safeImage('data:image/png;base64,aGVsbG8=')).toBeDefined()
  for (const href of [
    'https://example.org/a.png',
    'data:image/svg+xml;base64,aGVsbG8=',
    'data:text/html;base64,aGk=',
  ])
    expect(safeImage(href)).toBeUndefined()
})

test('[U18] character references become characters, and unknown ones stay', () => {
  expect(decoded('a &lt;b&gt; &amp;amp; &#65;&#x42; &unknown; & &#0; &#9999999;')).toBe(
    'a <b> &amp; AB &unknown; & \ufffd \ufffd',
  )
})

test('[U18] the output of the highlighter becomes pieces of text, without its markup', () => {
  const html =
    '<span class="hljs-keyword">let</span> a = <span class="hljs-string">&#x27;&lt;b&gt;<span class="hljs-subst">x</span>&#x27;</span>'
  expect(spansOf(html)).toEqual([
    ['keyword', 'let'],
    ['', ' a = '],
    ['string', "'<b>"],
    ['subst', 'x'],
    ['string', "'"],
  ])
})

test.each([
  ['https://bank.example', 'https://evil.example/x', 'evil.example'],
  ['bank.example', 'https://www.evil.example', 'evil.example'],
  ['https://bank.example@evil.example', 'https://bank.example@evil.example', undefined],
  ['www.example.org/a', 'https://example.org/b', undefined],
  ['ann@bank.com', 'mailto:ann@evil.example', 'evil.example'],
  ['array.map', 'https://developer.example', undefined],
  ['the docs of example.org', 'https://evil.example', undefined],
])('[U18.1] a link whose text is an address says if it leads elsewhere: %s', (text, href, host) => {
  expect(otherHost(text, href)).toBe(host)
})

test('[U18.2] formulas and footnotes are read as such, with all their characters', () => {
  const formula = '$$\na_1 \\, b\n$$'
  const lexed = new Blocks().of(
    `${formula}\n\nsee \\(x_1\\) and $y*z*$ but $5 or $HOME:$PATH[^1]\n\n[^1]: a note\n[^b]: other`,
    false,
  )
  expect(lexed.map(({ token }) => token.type)).toEqual([
    'mathsBlock',
    'paragraph',
    'footnoteText',
    'footnoteText',
  ])
  const { token } = lexed[1] ?? { token: undefined }
  const inline = token && 'tokens' in token ? (token.tokens ?? []).map(({ type, raw }) => [type, raw]) : []
  expect(inline.filter(([type]) => type !== 'text')).toEqual([
    ['maths', '\\(x_1\\)'],
    ['maths', '$y*z*$'],
    ['footnote', '[^1]'],
  ])
})

test('[U18.3] prose cannot be reordered by its characters', () => {
  expect(decoded('a \u202eb &#x202e;c')).toBe('a ⟨U+202E⟩b ⟨U+202E⟩c')
})
