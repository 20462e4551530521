import { Blocks } from './blocks.ts'

/**
 * Parses a short Markdown text with all frequent kinds of markup, when the browser is idle. The browser then compiles the parser
 * before the first text of an agent comes. On a slow machine, that text would otherwise wait for several frames.
 */
export function warmUp(): void {
  const read = () => {
    const blocks = new Blocks()
    const text = '# a\n\nb **c** `d` [e](https://f.example) g\n\n- h\n- i\n\n```ts\nj\n```\n\nk, l'
    for (let length = 1; length <= text.length; length++) blocks.of(text.slice(0, length), true)
    blocks.of(text, false)
  }
  // Safari has no idle callbacks.
  if ('requestIdleCallback' in globalThis) requestIdleCallback(read)
  else setTimeout(read, 1000)
}
