import { Blocks } from './blocks.ts'

/**
 * Reads a short text with every frequent mark, in an idle moment. The first text of an agent would otherwise wait until the
 * browser has compiled the lexer and its expressions, which takes several frames on a slow machine.
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
